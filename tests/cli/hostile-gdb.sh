#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# gdb with epitaph's commands, in a folder that somebody else has filled: modules of Python with the names that ours and Python's have,
# a .gdbinit, and scripts that gdb would load with the program and the library by their names. None of it is run.
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
mkdir evil home
traced evil/waiters
cd evil
crash ./waiters abort core.it
for name in epitaph epitaph_arena epitaph_commands epitaph_live epitaph_process epitaph_ranges epitaph_snapshot epitaph_switches constants \
	struct json os re subprocess tempfile shutil importlib collections ctypes; do
	echo "open('made.$name', 'w')" >$name.py
done
for name in waiters-gdb.py core.it-gdb.py libepitaph.so.0-gdb.py autoload.py; do echo "open('made.$name', 'w')" >$name; done
for name in waiters-gdb.gdb .gdbinit gdbinit; do echo "shell touch made$name" >$name; done
printf '#!/bin/sh\ntouch made.program\n' >epitaph
chmod +x epitaph
env -u PYTHONPATH HOME="$PWD/../home" gdb -batch -iex 'set debuginfod enabled off' -iex 'set debug-file-directory /nonexistent' \
	-x "$BUILD/gdb-ext/epitaph.py" -ex 'epitaph info' -ex 'epitaph save saved' -ex 'epitaph report' -ex 'epitaph' ./waiters -c core.it >out 2>err || true
[ -s saved ] || say "nothing was saved: $(cat err)"
grep -q 'threads\|trace' out || say "no info: $(cat out err)"
! compgen -G 'made*' >/dev/null || say "what was planted was run: $(echo made*)"
[ "$failures" -eq 0 ]

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# In gdb, a core whose arena is shared memory of a file, which is not in the core, leads to that file, also when it was put aside
# since; the snapshot is the one that `epitaph extract` writes; a file that is gone or cut off is said to be.
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"

mkdir file
traced file/waiters
(cd file && EPITAPH_FILE=$PWD/arena crash ./waiters abort crash.core)
[ -z "$(arena_of file/crash.core)" ] || say "the test itself: the arena is in the core"
gdb_follows() { # SNAPSHOT
	in_gdb -ex 'epitaph info' -ex "epitaph save $1" -c file/crash.core >told || say "$1: $(cat gdb.err)"
	grep -Eq '^arena +0x[0-9a-f]+, .*; all of that was saved$' told || say "$1: not all of the arena: $(cat told)"
	grep -q "^found by  the arena's file.*/file/$2)\$" told || say "$1: the file is not named: $(cat told)"
	"$BIN/epitaph" extract file/crash.core -o "$1.extracted" 2>/dev/null
	cmp "$1" "$1.extracted" || say "$1: not what epitaph extract writes"
}
gdb_follows file/first arena
cat file/arena >file/other && mv file/arena file/arena.3
EPITAPH_FILE=$PWD/file/arena file/waiters abort >/dev/null 2>&1 || true
gdb_follows file/second arena.3
cmp <(core_bytes file/first $(arena_of file/first | cut -d ' ' -f 1,2)) \
	<(core_bytes file/second $(arena_of file/first | cut -d ' ' -f 1,2)) || say "another arena after the renaming"
head -c 100000 file/other >file/arena.3
if in_gdb -ex 'epitaph info' -c file/crash.core >told; then
	grep -Eq '^arena .* in use of .*; [0-9.]+ KiB of that was saved' told || say "cut off, and not said: $(cat told)"
else
	say "a file that is cut off: $(cat gdb.err)"
fi
rm file/arena.3
if in_gdb -ex 'epitaph info' -c file/crash.core >told; then say "a trace of a file that is gone: $(cat told)"; fi
grep -q "^epitaph: .*/file/arena, which is not there any more.*epitaph report FILE" gdb.err || say "gone: $(cat gdb.err)"
exit $((failures > 0))

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# In gdb, a core whose arena is shared memory of a file, which is not in the core: `epitaph report` and its fellows follow to that file
# as the program does, and `epitaph save` says who makes a snapshot of it.
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"

mkdir file
traced file/waiters
(cd file && EPITAPH_FILE=$PWD/arena crash ./waiters abort crash.core)
[ -z "$(arena_of file/crash.core)" ] || say "the test itself: the arena is in the core"
in_gdb -ex 'epitaph info' file/waiters file/crash.core >out || say "$(cat gdb.err)"
grep -q '^arena .*, found by file of EPITAPH_FILE ' out || say "the file is not named: $(cat out)"
if in_gdb -ex 'epitaph save x' file/waiters file/crash.core >out; then say "a snapshot of nothing: $(cat out)"; fi
grep -q '^epitaph: .*its trace lies in the file of EPITAPH_FILE.*epitaph extract CORE' gdb.err || say "save: $(cat gdb.err)"
[ ! -e x ] || say "a file of nothing"
rm file/arena*
if in_gdb -ex 'epitaph info' file/waiters file/crash.core >out; then say "a trace of a file that is gone: $(cat out)"; fi
exit $((failures > 0))

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A snapshot shows the frames that the full core shows, in gdb and in eu-stack, also through a handler on a stack of its own; a
# snapshot of it is the same; a core that was cut off still gives its arena.
set -euo pipefail
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off
cp "$TOP/tests/programs/altstack.c" .
"$BIN/epitaph-cc" -g -O1 -o altstack altstack.c -lpthread
ulimit -c unlimited
status=0
./altstack >program.log 2>&1 || status=$?
[ "$status" -eq 134 ] || { echo "status $status, not SIGABRT's"; exit 1; }
core=$(ls core core.* 2>/dev/null | head -n 1) || true
[ -n "$core" ] || { echo "no core here: $(cat /proc/sys/kernel/core_pattern)"; exit 77; }

"$epitaph" extract -o snapshot.core "$core"
[ "$(stat -c %s snapshot.core)" -lt "$(stat -c %s "$core")" ] || { echo "not smaller than the core"; exit 1; }

eu-stack -e altstack --core "$core" >full.txt 2>&1 || true
eu-stack -e altstack --core snapshot.core >small.txt 2>&1 || true
diff full.txt small.txt || { echo "eu-stack sees something else in the snapshot"; exit 1; }
frames=$(grep -c dive full.txt)
# 40 + 1 in main, 20 + 50 + 80 + 110 in the threads and one more in each
[ "$frames" -eq $((41 + 21 + 51 + 81 + 111)) ] || { echo "$frames frames of dive"; exit 1; }

backtrace() { gdb -q -batch -nx -ex 'thread apply all bt' altstack "$1" 2>gdb.log | grep '^#'; }
backtrace "$core" >full.txt
backtrace snapshot.core >small.txt
diff full.txt small.txt || { echo "gdb sees something else in the snapshot"; exit 1; }
[ "$(grep -c dive small.txt)" -eq "$frames" ] || { echo "gdb sees other frames than eu-stack"; exit 1; }

"$epitaph" extract -q -o second.core snapshot.core
cmp snapshot.core second.core

# Cut the core behind its arena, which comes first: the trace outlives it.
size=$(stat -c %s "$core")
head -c $((size * 3 / 5)) "$core" >cut.core
status=0
"$epitaph" extract -o cut-snapshot.core cut.core 2>cut.log || status=$?
grep -q 'truncated' cut.log || { echo "the cut was not told:"; cat cut.log; exit 1; }
[ "$status" -le 1 ] || { cat cut.log; exit 1; }
grep -q missing cut.log || { echo "missing stacks were not told:"; cat cut.log; exit 1; }

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A running process gives a snapshot without being stopped; gdb opens it and knows its threads.
set -euo pipefail
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off
cp "$TOP/tests/programs/altstack.c" .
"$BIN/epitaph-cc" -g -O1 -o altstack altstack.c -lpthread
mkfifo ready
./altstack wait >ready &
pid=$!
trap 'kill -9 $pid 2>/dev/null || true' EXIT
read -r line <ready
[ "$line" = ready ]
"$epitaph" extract -o live.core "$pid"
[ "$(awk '{ print $3 }' "/proc/$pid/stat")" = S ] || { echo "the process does not sleep any more"; exit 1; }
gdb -q -batch -nx -ex 'info threads' altstack live.core >gdb.txt 2>&1
[ "$(grep -c 'LWP' gdb.txt)" -ge 5 ] || { cat gdb.txt; exit 1; }
grep -q 'warning: .*too small' gdb.txt && { cat gdb.txt; exit 1; }
"$epitaph" extract -q -o again.core live.core
"$epitaph" info live.core >one.txt
"$epitaph" info again.core >two.txt
diff <(sed 's/live\.core/X/' one.txt) <(sed 's/again\.core/X/' two.txt)
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
status=0
"$epitaph" extract -o gone.core "pid:$pid" 2>gone.log || status=$?
[ "$status" -eq 3 ] || { echo "status $status for a pid that is gone"; exit 1; }
grep -q 'no such process' gone.log
[ ! -e gone.core ]

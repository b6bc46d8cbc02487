#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Threads that end by return, pthread_exit, cancellation, thrd_exit and the exit system call: each has exactly the calls that
# tests/programs/endings.c says, those it ended in are told as such and not as open at the crash.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >compare.py <<'END'
from collections import defaultdict

step = ["B step", "E step"]
begun = ["B body", *step, *step, "B end"]
returned = [*begun, "E end", "E body"]
want = {way: begun for way in ("exit", "cancel", "async", "c11", "waits")}
want["return"] = returned
want["endings"] = [*step, "B crash"]  # none of the task that shares its thread-local memory
have, open_calls = defaultdict(list), defaultdict(list)
for line in open("out"):
    columns = line.rstrip("\n").split("\t")
    if columns[0] in "BES" and columns[7].startswith("flow_"):
        have[columns[5]].append(columns[0] + " " + columns[7][5:])
        if "did-not-return" in columns[10]:
            open_calls[columns[5]].append(columns[7][5:])
assert have == want, (have, want)
assert open_calls == {**{way: ["body", "end"] for way in ("exit", "cancel", "async", "c11", "waits")}, "endings": ["crash"]}
END

try() { # FLAGS...
	"$BIN/epitaph-cc" -g "$@" "$TOP/tests/programs/endings.c" -o endings -pthread
	crash core "$PWD/endings"
	gives 0 "$EPITAPH" replay --format=tsv core
	python3 compare.py 2>why || say "$*: $(tail -n 1 why)"
	gives 0 "$EPITAPH" report --all core
	for way in exit cancel async c11; do
		grep -A1 "^thread [0-9]* $way (ended)" out | grep -q 'ended in   flow_end \[.*\] < flow_body \[' || { say "$*: $way"; cat out; }
	done
	grep -A3 '^thread [0-9]* waits:' out | grep -q 'open calls flow_end \[' || { say "$*: waits"; cat out; }
	! grep -A1 '^thread [0-9]* return (ended)' out | grep -q 'ended in' || say "$*: return"
}

for level in -O0 -O2; do
	try $level
	try $level -epitaph-method=finstrument
	EPITAPH_CC=clang try $level
	EPITAPH_CC=clang try $level -epitaph-method=finstrument
done
try -O2 -static
[ $failures -eq 0 ]

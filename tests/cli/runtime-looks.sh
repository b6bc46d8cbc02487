#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A call that computes for 20 ms among tiny ones, at default time stamps: it is shown to take that long, in a core, in what is
# extracted from one, in a snapshot of the running process and in the file of one that was killed; with scheduling events
# and without; not where nobody looks.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

cat >check.py <<'PYTHON'
import sys

truth, found, seen, wrong, begin = int(open("truth").read()), sys.argv[1] == "found", [], [], None
for line in open("tsv"):
    f = line.rstrip("\n").split("\t")
    if f[0] not in "BE" or f[7] != "compute":
        continue
    if f[0] == "B":
        begin = f
    else:
        seen.append(int(f[1]) - int(begin[1]))
        # The interval is true: so long it took at the least.
        if int(f[3]) - int(begin[2]) < 19_900_000:
            wrong.append((begin, f))
assert len(seen) == 10, seen
assert not wrong, wrong
good = sum(19_000_000 < ns < 60_000_000 for ns in seen)
if found:
    assert good == 10 and 0.95 < sum(seen) / truth < 1.05, (seen, truth)
else:
    # One may be right by itself, as where the thread was preempted.
    assert good < 10, "right, though nobody looks"
PYTHON
check() { # WHAT found|not SOURCE
	"$EPITAPH" replay --format=tsv "$3" >tsv 2>err || [ $? -eq 1 ] || fail "$1: replay: $(cat err)"
	python3 check.py "$2" || fail "$1"
}
export EPITAPH_RING=8M EPITAPH_MEMORY=64M
run() { # WHAT found|not SETTING…
	local what=$1 found=$2
	shift 2
	crash 134 env "$@" ./slowest 10 20 abort
	mv stdout truth
	check "$what" "$found" core
}

"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/slowest.c" -o slowest
run "without events" found EPITAPH_SCHED=off
"$EPITAPH" extract core -o extracted.core >/dev/null
check "extracted" found extracted.core
run "with events" found EPITAPH_SCHED=auto
run "nobody looks" not EPITAPH_SCHED=off EPITAPH_LOOKS=off

begin() { # SETTING…: until it waits
	rm -f truth
	env "$@" ./slowest 10 20 wait >truth &
	pid=$!
	until [ -s truth ]; do sleep 0.05; done
}
begin EPITAPH_SCHED=off EPITAPH_FILE="$PWD/arena"
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
check "a file" found arena
begin EPITAPH_SCHED=off
"$EPITAPH" control "$pid" snapshot >/dev/null
check "a snapshot" found epitaph.*.core
"$EPITAPH" extract "$pid" -o live.core >/dev/null
check "a live process" found live.core
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true

EPITAPH_CC=clang "$BIN/epitaph-cc" -O2 -g -epitaph-method=xray "$TOP/tests/programs/slowest.c" -o slowest
run "xray" found EPITAPH_SCHED=off
"$BIN/epitaph-cc" -O2 -g -epitaph-method=finstrument -epitaph-runtime=shared "$TOP/tests/programs/slowest.c" -o slowest
run "shared" found EPITAPH_SCHED=off

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A call that computes for 20 ms among tiny ones, at default time stamps: it is shown to take that long, in a core, in what is
# extracted from one, in a snapshot of the running process and in the file of one that was killed; with scheduling events
# and without.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

cat >check.py <<'PYTHON'
truth, seen, wrong, begin = int(open("truth").read()), [], [], None
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
# On a machine that is busy somebody who wants to look every 4 ms may come too late for one.
assert good >= 8 and 0.75 < sum(seen) / truth < 1.05, (seen, truth)
PYTHON
check() { # WHAT SOURCE
	"$EPITAPH" replay --format=tsv "$2" >tsv 2>err || [ $? -eq 1 ] || fail "$1: replay: $(cat err)"
	python3 check.py || fail "$1"
}
export EPITAPH_RING=8M EPITAPH_MEMORY=64M
run() { # WHAT SETTING…
	local what=$1
	shift
	crash 134 env "$@" ./computes 10 20 abort
	mv stdout truth
	check "$what" core
}

"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/computes.c" -o computes
run "without events" EPITAPH_SCHED=off
"$EPITAPH" extract core -o extracted.core >/dev/null
check "extracted" extracted.core
run "with events" EPITAPH_SCHED=auto

begin() { # SETTING…: until it waits
	rm -f truth
	env "$@" ./computes 10 20 wait >truth &
	pid=$!
	until [ -s truth ]; do sleep 0.05; done
}
begin EPITAPH_SCHED=off EPITAPH_FILE="$PWD/arena"
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
check "a file" arena
begin EPITAPH_SCHED=off
"$EPITAPH" control "$pid" snapshot >/dev/null
check "a snapshot" epitaph.*.core
"$EPITAPH" extract "$pid" -o live.core >/dev/null
check "a live process" live.core
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true

EPITAPH_CC=clang "$BIN/epitaph-cc" -O2 -g -epitaph-method=xray "$TOP/tests/programs/computes.c" -o computes
run "xray" EPITAPH_SCHED=off
"$BIN/epitaph-cc" -O2 -g -epitaph-method=finstrument -epitaph-runtime=shared "$TOP/tests/programs/computes.c" -o computes
run "shared" EPITAPH_SCHED=off

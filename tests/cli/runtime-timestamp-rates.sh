#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The regulator of time stamps: a quiet thread comes to be fully timed; a thread that
# storms and rests by turns changes its mask both ways within 10 blocks; a storm
# that ends in a wait is told as approximate, and the wait lies in the interval.
# sanitized only
# alone
# quiet
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O2 "$TOP/tests/programs/timestamp_rates.c" -o timestamp_rates
run() {
	export EPITAPH_RING=8M EPITAPH_MEMORY=512M
	crash 134 ./timestamp_rates
	unset EPITAPH_RING EPITAPH_MEMORY
	# At its beginning others may have used up what the process may read of the clock.
	[ "$(info 'set(threads["quiet"]["every"][-40:])')" = "{1}" ] ||
		fail "the quiet thread: $(info 'threads["quiet"]["every"]')"
	"$EPITAPH" replay --format=tsv core >tsv
}

cat >check.py <<'PYTHON'
import json

info = json.load(open("info.json"))
stormy = next(t for t in info["threads"] if t["name"] == "stormy")
assert stormy["whole"], "the ring was to hold all of it"
# Runs of blocks that are sparse (storm) or full (rest).
runs = []
for every in stormy["every"]:
    sparse = every >= 8
    if not runs or runs[-1][0] != sparse:
        runs.append([sparse, 0])
    runs[-1][1] += 1
# The kernel may take the thread's time away within a storm, for a tick or for pages of the ring: what follows such a wait is timed,
# and two blocks later the storm is known again.
joined = []
for sparse, n in runs:
    if sparse and len(joined) >= 2 and joined[-1][1] <= 2 and joined[-2][0]:
        n += joined.pop()[1] + joined.pop()[1]
    joined.append([sparse, n])
runs = joined
# A storm is 80,000 events, 157 blocks; a rest is 12,000, 23 blocks: with at
# most 10 blocks of delay each way, 147 and 13 are left.
storms = [n for sparse, n in runs if sparse and n >= 147]
rests = [n for sparse, n in runs if not sparse and n >= 13]
assert len(storms) >= 5 and len(rests) >= 5, runs

lines = [line.rstrip("\n").split("\t") for line in open("tsv")]
head = lines[0]
head[0] = head[0].lstrip("# ")
rows = [dict(zip(head, line)) for line in lines[1:]]
begin, = [r for r in rows if r["function"] == "wait_for_it" and r["event"] == "B"]
end, = [r for r in rows if r["function"] == "wait_for_it" and r["event"] == "E"]
both = begin["flags"] + end["flags"]
assert "approximate" in both, (begin, end)
assert int(end["latest_ns"]) - int(begin["earliest_ns"]) >= 50_000_000
assert int(begin["time_ns"]) <= int(end["time_ns"])
PYTHON

# A thread that another one has just pushed off its processor takes the time away for its own, and is fully timed for a
# while: once in a while the machine is that busy, five times in a row it is not.
for _ in 1 2 3 4 5; do
	run
	python3 check.py 2>why && exit 0
done
cat why
exit 1

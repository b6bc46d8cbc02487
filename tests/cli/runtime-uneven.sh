#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls that take 8 us and 2 us among tiny ones, where one record in 64 has a time: each kind has, in all, what the program's own
# clock says, with scheduling events and without.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

cat >check.py <<'PYTHON'
import json

stats = {one["function"]: one for one in json.load(open("stats.json"))["functions"]}
brief, dear = map(int, open("truth").read().split())
got = {name: stats[name]["self_ns"] for name in ("tiny", "brief", "dear")}
assert stats["tiny"]["calls"] > 1_000_000, stats["tiny"]
# Most are without a time.
assert stats["tiny"]["timed"] < stats["tiny"]["calls"] / 4, stats["tiny"]
for name, truth in (("brief", brief), ("dear", dear)):
    one = stats[name]
    assert one["self_least_ns"] < 1.1 * truth and one["self_most_ns"] > truth, (one, truth)
assert 0.9 < got["brief"] / brief < 1.1 and 0.9 < got["dear"] / dear < 1.1, (got, brief, dear)
PYTHON
export EPITAPH_RING=64M EPITAPH_MEMORY=128M
run() { # WHAT SETTING…
	local what=$1
	shift
	crash 134 env "$@" ./uneven
	mv stdout truth
	"$EPITAPH" stats --json core >stats.json 2>err || [ $? -eq 1 ] || fail "$what: stats: $(cat err)"
	python3 check.py || fail "$what"
}
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/uneven.c" -o uneven
run "without events" EPITAPH_SCHED=off
run "with events" EPITAPH_SCHED=auto
EPITAPH_CC=clang "$BIN/epitaph-cc" -O2 -g -epitaph-method=xray "$TOP/tests/programs/uneven.c" -o uneven
run "xray" EPITAPH_SCHED=off

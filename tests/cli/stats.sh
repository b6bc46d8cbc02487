#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What stats says of tests/programs/story.c is what awk works out from replay's columns; recursion counts once in total, open
# calls are told, and each option does what it says.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
traced story story
EPITAPH_TIMESTAMP_EVERY=1 crash core "$PWD/story"

# From begins and ends alone, by a stack of its own: function calls timed total self median max, times of ended calls.
recompute() {
	"$EPITAPH" replay --format=tsv core | awk -F'\t' '
	NR == 1 { sub(/^# /, ""); for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ event = $at["event"]; name = $at["function"]; depth = $at["depth"] + 0; now = $at["time_ns"] }
	event == "B" {
		stack[depth] = name; began[depth] = now; inner[depth] = 0; calls[name]++
		unsure[depth] = $at["earliest_ns"] != $at["latest_ns"]
		outer[depth] = 1
		for (i = 0; i < depth; i++) if (stack[i] == name) outer[depth] = 0
	}
	event == "E" {
		took = now - began[depth]
		if (depth > 0) inner[depth - 1] += took
		self[name] += took - inner[depth]
		if (outer[depth]) total[name] += took
		flags = $at["flags"]
		if (!unsure[depth] && $at["earliest_ns"] == $at["latest_ns"] && (flags !~ /abandoned/ || flags ~ /unwound/)) {
			n = ++timed[name]; list[name, n] = took
		}
		delete stack[depth]
	}
	END {
		for (name in calls) {
			n = timed[name] + 0
			for (i = 2; i <= n; i++) for (j = i; j > 1 && list[name, j - 1] > list[name, j]; j--) {
				t = list[name, j]; list[name, j] = list[name, j - 1]; list[name, j - 1] = t
			}
			if (name in total)
				printf "%s %d %d %d %d %s %s\n", name, calls[name], n, total[name], self[name],
					n ? list[name, int((n + 1) / 2)] : "-", n ? list[name, n] : "-"
		}
	}' | sort
}

gives 0 "$EPITAPH" stats --json core
python3 - >got <<'PYTHON'
import json
data = json.load(open("out"))
assert data["version"] == 1 and data["gaps"] == 0
assert data["calls"] == sum(f["calls"] for f in data["functions"])
for f in data["functions"]:
    assert f["calls"] == f["timed"] + f["open"] and not f["before"], f
    if not f["open"]:
        print(f["function"], f["calls"], f["timed"], f["total_ns"], f["self_ns"], f["median_ns"], f["max_ns"])
assert sorted(f["function"] for f in data["functions"] if f["open"]) == ["fall", "last", "main"]
PYTHON
sort -o got got
recompute >want
# Each time is rounded to a nanosecond once here and twice there.
paste -d' ' got want | awk '
	{ for (i = 1; i <= 7; i++) { off = $i - $(i + 7); if (i <= 3 ? $i != $(i + 7) : off * off > 4 * ($2 + 1) * ($2 + 1)) bad = 1 } }
	END { exit bad || NR != 7 }' || { say 'stats and replay differ'; diff got want; }

gives 0 "$EPITAPH" stats core
has out '(1 did not return)'
has out '(1 left without a return)'
gives 0 "$EPITAPH" stats --csv --sort=name --function='l*' core
[ "$(cut -d, -f1 out | tr '\n' ' ')" = 'function "last" "leaf" ' ] || { say 'by name'; cat out; }
gives 0 "$EPITAPH" stats --csv --sort=name --reverse --function='l*' core
[ "$(cut -d, -f1 out | tr '\n' ' ')" = 'function "leaf" "last" ' ] || { say 'by name, reversed'; cat out; }
for key in self total calls min median p90 p99 max; do
	gives 0 "$EPITAPH" stats --json --sort=$key core
	python3 - $key <<'PYTHON' || say "--sort=$key"
import json, sys
key = {"self": "self_ns", "total": "total_ns", "calls": "calls"}.get(sys.argv[1], sys.argv[1] + "_ns")
values = [f[key] or 0 for f in json.load(open("out"))["functions"]]
assert values == sorted(values, reverse=True) and len(set(values)) > 1, values
PYTHON
done
gives 0 "$EPITAPH" stats --csv --sort=calls --limit=1 core
[ "$(wc -l <out)" = 2 ] || say '--limit=1'
has out '"leaf"'
gives 0 "$EPITAPH" stats --csv --by-thread core
has out 'tid,thread,'
gives 0 "$EPITAPH" stats --json --since=-1us --until=-0ns core
gives 2 "$EPITAPH" stats --function='no such*' core
has err 'no call fits'
gives 64 "$EPITAPH" stats --sort=size core
gives 64 "$EPITAPH" stats --limit=0 core
gives 64 "$EPITAPH" stats --last=5 core
has err 'takes a time'
gives 64 "$EPITAPH" stats --csv --json core
status=0
"$EPITAPH" stats core 2>err >/dev/full || status=$?
[ $status = 3 ] || say "a full disk: status $status"
has err 'No space left'
# The file that each function lies in, when asked: that of --csv.
gives 0 "$EPITAPH" stats core
hasnt out ' module '
gives 0 "$EPITAPH" stats --module --function=recursive core
[ "$(awk '{ print $(NF - 1), $NF; exit }' out)" = "module function" ] || { say "no column for modules"; cat out; }
[ "$(awk '$NF == "recursive" { print $(NF - 1) }' out)" = story ] || { say "recursive lies in story"; cat out; }
gives 0 "$EPITAPH" stats --csv --function=recursive core
grep -q '^"recursive","story",' out || { say "the same in --csv"; cat out; }
[ "$failures" = 0 ]

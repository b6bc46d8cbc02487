#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Notes read in every output as the program's own printf printed them, at their place among the calls; spans have both ends
# and a duration; paused threads say nothing.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

traced remarks remarks -I"$TOP" -pthread
mkdir crash.dir && (cd crash.dir && exec ../remarks) >truth 2>/dev/null || true
mv crash.dir/core* core
hasnt truth 'errno was changed'
# What is shown has no control characters.
sed 's/\t/\\x09/g' truth >wanted

"$EPITAPH" replay --format=tsv core >tsv
main=$(awk -F'\t' '$6 == "remarks" {print $5; exit}' tsv)
awk -F'\t' -v tid="$main" '$1 == "P" && $5 == tid && sub(/^note /, "", $11) {print $11}' tsv >got
diff wanted got >difference || say "notes are not what printf printed: $(cat difference)"
[ "$(wc -l <got)" -eq 10 ] || say "only $(wc -l <got) notes"
[ "$(awk -F'\t' '/note cache users/ {print $8}' tsv | sort -u)" = "resize" ] || say "notes of resize lie in it"

# A thread without a call, and one that was paused.
awk -F'\t' -v tid="$main" '$1 == "P" && $5 != tid {print $11}' tsv >other
printf 'note a thread without a call, 1\nnote again\n' | diff - other >difference || say "the silent thread: $(cat difference)"

# Spans: begin and end lie apart as far as the duration says; which belongs to which.
"$EPITAPH" export -f jsonl core >lines
python3 - <<'PYTHON' || say "spans"
import json
lines = [json.loads(line) for line in open("lines")]
points = [line for line in lines if line["type"] == "point"]
begins = {(p["thread"], p["span"]): p for p in points if p["point"] == "span-begin"}
ends = [p for p in points if p["point"] == "span-end"]
assert [p["text"] for p in ends] == ["strange", "frame", "frame", "request"], ends
assert ends[0]["begin_ns"] is None
for end in ends[1:]:
    begin = begins.pop((end["thread"], end["span"]))
    assert begin["text"] == end["text"] and begin["time_ns"] == end["begin_ns"] <= end["time_ns"]
# The inner frame ends first: it began last.
assert ends[1]["begin_ns"] > ends[2]["begin_ns"]
assert [b["text"] for b in begins.values()] == ["for ever"]
assert ends[3]["function"] == "ends"
notes = [p["text"] for p in points if p["point"] == "note" and p["depth"]]
assert notes == open("wanted").read().splitlines(), notes
PYTHON

"$EPITAPH" replay core >text
has text '-- span strange ends: it began before the history, or never'
has text '-- span for ever began here and did not end'
[ "$(grep -c -- '-- span frame ends after [0-9]' text)" = 2 ] || say "two frames end"
gives 0 "$EPITAPH" report --all core
has out '-- cache users resized to 300'
has out '-- open: No such file or directory'
grep -q '^  in span    for ever \[' out || say "report does not tell the open span"

gives 0 "$EPITAPH" stats --json core
python3 - <<'PYTHON' || say "stats"
import json
rows = {f["function"]: f for f in json.load(open("out"))["functions"] if f.get("kind") == "span"}
assert sorted(rows) == ["for ever", "frame", "request", "strange"], rows
assert rows["frame"]["calls"] == rows["frame"]["timed"] == 2 and rows["frame"]["max_ns"] > rows["frame"]["min_ns"]
assert rows["for ever"]["open"] == 1 and rows["strange"]["before"] == 1
assert rows["frame"]["total_ns"] >= rows["frame"]["max_ns"] + rows["frame"]["min_ns"]
PYTHON

for format in chrome viztracer; do
	"$EPITAPH" export -f $format core >$format.json
	python3 - $format.json <<'PYTHON' || say "$format"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
notes = [e["name"] for e in events if e.get("cat") == "note" and e["name"] not in ("again", "a thread without a call, 1")]
assert notes == open("wanted").read().splitlines(), notes
ends = {e["id"]: e for e in events if e["ph"] == "e"}
begins = {e["id"]: e for e in events if e["ph"] == "b"}
assert sorted(e["name"] for e in ends.values()) == ["frame", "frame", "request"]
assert all(begins[i]["ts"] <= e["ts"] and begins[i]["name"] == e["name"] for i, e in ends.items())
assert [e["name"] for i, e in begins.items() if i not in ends] == ["for ever"]
PYTHON
done
for format in collapsed speedscope dot funtrace; do
	gives 0 "$EPITAPH" export -f $format -o "out.$format" core
done

# The last calls of a thread have their notes; a call that is not asked for takes its own along.
"$EPITAPH" replay --function=resize core >text
has text '-- cache users resized to 100'
hasnt text 'open: No'
"$EPITAPH" replay --last=1 --thread=remarks core >text || true
hasnt text 'resized to 100'

# Without the file: raw arguments, and that it is missing. With it elsewhere, by its build-id, all is well again.
mv remarks moved
gives 1 "$EPITAPH" replay core
grep -q -- '-- \[format at remarks+0x[0-9a-f]* not found\] "users", 100$' out || say "raw arguments: $(grep format out | head -3)"
gives 0 "$EPITAPH" replay --executable=moved core
has out '-- cache users resized to 100'
# The snapshot of a core has what the core had.
gives 0 "$EPITAPH" extract -o small.core core
gives 0 "$EPITAPH" replay --executable=moved small.core
has out '-- cache users resized to 100'

exit $((failures > 0))

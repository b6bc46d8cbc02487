#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Functions that are switched off while they are open: their calls end there and are said to, whoever shows them; what runs
# inside stands under the caller that is known; frames of theirs are told to be off; a snapshot tells the same; nothing of it is
# damage. Calls made while a function is off leave no return behind.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=off EPITAPH_BUDGET=none
traced() { "$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/switched_open.c" -o prog; }
traced || say "it does not build"
{ ./prog || true; } 2>/dev/null
[ -e core ] || mv core.* core 2>/dev/null || say "no core"

"$EPITAPH" replay --format=tsv core >tsv || say "replay ends with $?"
awk -F'\t' '$1 ~ /^[BES]$/ { print $1, $7, $8, $11 }' tsv | sed -E 's/(,?)approximate(,?)/\1\2/; s/ ,/ /; s/,$//; s/ $/ -/' >calls
cat >wanted <<'END'
B 0 main did-not-return
B 1 outer -
B 2 inner -
E 2 inner -
E 1 outer switched-off
B 1 inner -
E 1 inner -
B 1 inner -
E 1 inner -
B 1 inner -
E 1 inner -
B 1 later -
B 2 inner -
E 2 inner -
B 2 inner -
E 2 inner -
E 1 later -
B 1 inner -
E 1 inner -
B 1 last did-not-return
END
diff wanted calls || say "other calls"

"$EPITAPH" extract -o snapshot core >/dev/null 2>&1 || say "extract ends with $?"
"$EPITAPH" replay --format=tsv snapshot | diff tsv - || say "a snapshot tells something else"
"$EPITAPH" replay core >page || say "replay ends with $?"
has page 'outer: its hooks were switched off, when it returned is not known'
"$EPITAPH" export -f jsonl -o calls.jsonl core || say "export ends with $?"
grep '"switched-off"' calls.jsonl | grep -q '"outer"' || say "jsonl says nothing"
"$EPITAPH" export -f chrome -o calls.json core || say "export ends with $?"
grep -q "\"switched\":\"its hooks were switched off" calls.json || say "chrome does not say it"
"$EPITAPH" stats --json core | python3 -c '
import json, sys
timed = {f["function"]: f for f in json.load(sys.stdin)["functions"]}
assert timed["outer"]["calls"] == 1 and timed["outer"]["timed"] == timed["outer"]["left"] == 0, timed["outer"]
assert timed["outer"]["switched_off"] == 1 and timed["inner"]["switched_off"] == 0, timed["outer"]
assert timed["inner"]["timed"] == timed["inner"]["calls"] == 7, timed["inner"]' || say "stats counts it as timed"

"$EPITAPH" stats core >page
has page '(1 switched off)'
"$EPITAPH" report --json core >report.json || say "report ends with $?"
python3 - <<'END' || say "report"
import json
report = json.load(open("report.json"))
rows = {row.get("function", row.get("name")): row for row in report["threads"][0]["stack"]["rows"]}
assert (rows["outer"]["verdict"], rows["outer"]["reason"]) == ("not-instrumented", "switched-off"), rows["outer"]
assert rows["last"]["verdict"] == rows["main"]["verdict"] == "agree", rows
[off] = [w for w in report["warnings"] if w["code"] == "switched-off"]
assert "2 functions (" in off["text"] and "outer" in off["text"] and "last" in off["text"], off
END
"$EPITAPH" info --json core | python3 -c '
import json, sys
switching = json.load(sys.stdin)["switching"]
assert switching["functions_off"] == switching["functions_off_name"] == 2, switching
assert switching["how"] in ("file", "mprotect") and switching["flips"] == 6, switching
assert not switching["all_off"], switching' || say "info"
"$EPITAPH" info core >page
has page 'off        2 functions (0 for the budget, 2 by epitaph_untrace'

# Of a process that runs a snapshot holds what is in use only.
"$BIN/epitaph-cc" -O1 "$TOP/tests/programs/switched.c" -o switched && mkfifo to && : >from
./switched <to >from 2>/dev/null &
pid=$!
exec 3>to
for word in step untrace step; do echo $word >&3; done
until [ "$(wc -l <from)" -ge 4 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
"$EPITAPH" extract -o live $pid >/dev/null 2>&1 || say "extract of a process ends with $?"
exec 3>&-
wait $pid || true
[ "$(stat -c %s live)" -lt 1000000 ] || say "the snapshot is as large as the arena"
"$EPITAPH" info --json live | python3 -c '
import json, sys
switching = json.load(sys.stdin)["switching"]
assert switching["functions_off"] == switching["functions_off_name"] == 1, switching' || say "the snapshot does not tell it"
[ $failures = 0 ]

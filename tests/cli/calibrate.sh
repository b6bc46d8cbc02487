# SPDX-License-Identifier: BSD-2-Clause
# calibrate prints a cost for each mode, in text, JSON and a file; without hooks in the reader itself.
# What the figures are depends on the machine: here only that a clock read costs more than none.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

partial() { # COMMAND...: a busy machine makes the answer partial
	local got=0
	"$@" >out 2>err || got=$?
	[ $got -le 1 ] || { say "$*: status $got"; cat err; }
	[ $got -eq 0 ] || grep -qE 'busy|differ' err || say "$*: partial, and no reason given: $(cat err)"
}

printf '[costs]\nfull = 1 ns\n' >costs
partial "$EPITAPH" calibrate --rounds=2 --json -o costs
python3 - <<'PYTHON' || say 'the JSON'
import json
data = json.load(open("out"))
assert data["format"] == "epitaph-calibration" and data["version"] == 1 and data["rounds"] == 2
costs = data["costs"]
assert set(costs) == {"full", "one-in-8", "one-in-64", "auto", "paused", "counting", "excluded"}
for mode, cost in costs.items():
    assert cost["low_ns"] <= cost["ns"] <= cost["high_ns"], (mode, cost)
assert costs["full"]["ns"] > costs["one-in-64"]["ns"] > costs["excluded"]["ns"]
assert list(data["code"]) == ["160", "640", "1280"]
for size, cost in data["code"].items():
    assert cost["low_ns"] <= cost["ns"] <= cost["high_ns"], (size, cost)
PYTHON
[ "$(wc -l <costs)" -ge 9 ] && [ "$(grep -c '^full' costs)" = 1 ] || { say 'the file was not replaced'; cat costs; }
has costs '[costs]'
grep -qE '^full = [0-9.]+ ns, [0-9.]+ to [0-9.]+ ns, [0-9.]+ cycles$' costs || { say 'no cost of full'; cat costs; }
partial "$EPITAPH" calibrate --rounds=1
[ "$(grep -vcE 'busy|differ' err)" = 0 ] || say "calibrate complains: $(cat err)"
for words in 'every record timed' 'one record in 64' 'auto' 'paused' 'no hooks' 'EPITAPH_MODE=count' '640 KiB'; do has out "$words"; done

# The settings of whoever calls mean nothing.
EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_MEMORY=nonsense partial "$EPITAPH" calibrate --rounds=1 --json
hasnt err nonsense

# The reader is not traced itself, and the program that is lies beside the wrapper's files.
nm "$BIN/epitaph" >symbols
hasnt symbols __fentry__
nm "$LIB/epitaph/calibrate" >symbols
has symbols __fentry__

# A helper of another version, which times no code, changes nothing of the rest.
printf '#!/bin/sh\necho leaf 2 2 5 2.5\n' >helper
chmod +x helper
partial "$EPITAPH" calibrate --rounds=1 --helper=./helper -o costs
grep -q '^code-640k = 6.70 ns' costs || { say 'no default of wide code'; cat costs; }
printf '#!/bin/sh\necho leaf 2 2 5 2.5\necho code 640 5\n' >helper
gives 3 "$EPITAPH" calibrate --rounds=1 --helper=./helper
gives 64 "$EPITAPH" calibrate --rounds=0
gives 64 "$EPITAPH" calibrate --rounds=x
gives 64 "$EPITAPH" calibrate something
gives 3 "$EPITAPH" calibrate --rounds=1 --helper=/bin/true
gives 3 "$EPITAPH" calibrate --rounds=1 --helper=/bin/false
gives 3 "$EPITAPH" calibrate --rounds=1 --helper=no/such/program
printf '[costs]\nwords\n' >damaged
cp damaged before
gives 3 "$EPITAPH" calibrate --rounds=1 -o damaged
has err 'damaged:2:1:'
cmp -s damaged before || say 'a damaged file was changed'
# What people wrote beside costs is not replaced.
printf '[costs]\nfull = 1 ns\n[test parse]\nmax-calls = 5\n' >ours
cp ours before
gives 3 "$EPITAPH" calibrate --rounds=1 -o ours
has err 'ours: holds more than [costs]'
cmp -s ours before || say 'a budget file was replaced'
gives 3 "$EPITAPH" calibrate --rounds=1 -o no/such/folder/costs
[ "$failures" = 0 ]

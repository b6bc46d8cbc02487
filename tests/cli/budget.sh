# SPDX-License-Identifier: BSD-2-Clause
# budget run leaves a command as it is and files what its processes counted; check gives the verdict that arithmetic gives, as text
# and as JSON, and prints what would add a test to the file; parallel writers lose nothing; damage is refused.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
traced records records
mkdir tmp
export TMPDIR=$PWD/tmp

cat >costs <<'EOF'
[costs]
full = 20 ns
one-in-8 = 20 ns
one-in-64 = 20 ns
counting = 0 ns
clock-budget = 0%
EOF

# The command's own streams, status and death. 1,000 records: 4,001 calls and main; with a child's twice as many but main.
echo input >stdin
"$EPITAPH" budget run --test=echo -- cat <stdin >out 2>err || true
[ "$(cat out)" = input ] || say 'stdin or stdout is not its own'
has err 'no process counted'
gives 3 "$EPITAPH" budget run --test='parse/all [x] 100%' -- ./records 1000 3
[ "$(cat out)" = "$(./records 1000)" ] || say 'it printed something else'
gives 5 "$EPITAPH" budget run --test=forks -- ./records 1000 fork 5
gives 134 "$EPITAPH" budget run --test=dies -- ./records 1000 abort
# One that nobody can see die, too; its child ended well.
gives 137 "$EPITAPH" budget run --test=killed -- ./records 1000 fork kill
gives 127 "$EPITAPH" budget run --test=none -- ./nosuch
gives 126 "$EPITAPH" budget run --test=none -- ./costs
gives 64 "$EPITAPH" budget run -- ./records 1
gives 64 "$EPITAPH" budget run --test=x
gives 64 "$EPITAPH" budget run --test=x --units=0 -- ./records 1
[ -z "$(ls tmp)" ] || say 'a folder stayed behind'
# It can be stopped: the signal goes to the command.
"$EPITAPH" budget run --test=slow -- sleep 60 2>err & run=$!
while ! pgrep -P $run sleep >/dev/null; do sleep 0.05; done
kill -TERM $run
stopped=0; wait $run || stopped=$?
[ $stopped = 143 ] || say "stopped with $stopped"

# Without a file every test is unknown; the lines that check prints of them are a file that all keep to.
added() { sed -n 's/^      \([[r].*\)/\1/p' out; } # CHECK'S TEXT in out
gives 2 "$EPITAPH" budget check
has err 'epitaph.budget: not there'
has out 'dies: unknown: was run, and is not in the budget file'
cat costs <(added) >epitaph.budget
gives 0 "$EPITAPH" budget check
has out 'parse/all [x] 100%: good: calls per run 4,002, limit 4,002 + 5.0 %'
has out 'forks: good: calls per run 8,003'
has out 'dies: good: calls per run 4,002'
has out 'killed: good: calls per run 8,003'
# Of one that was killed the time is not known.
# Of what nobody saw die the CPU time is not known.
[ "$(grep -c '^reference-cpu = [0-9.]* s$' epitaph.budget)" = 3 ] || { say 'no CPU time'; cat epitaph.budget; }

# Run traced, it files what was seen beside the counts, and no verdict changes. 1,000,000 records overwrite a ring of 64 KiB;
# eight children that were killed left theirs.
gives 0 "$EPITAPH" budget run --traced --test=echo -- cat
has err 'no process left a trace'
gives 3 "$EPITAPH" budget run --traced --test='parse/all [x] 100%' -- ./records 100 3
gives 0 "$EPITAPH" budget check
has out 'parse/all [x] 100%: good: calls per run 4,002, limit 4,002 + 5.0 %'
has out 'traced: no ring was written over; nothing was lost'
EPITAPH_RING=64K gives 3 "$EPITAPH" budget run --traced --add --test='parse/all [x] 100%' -- ./records 1000000 3
gives 0 "$EPITAPH" budget check --format=json
python3 - <<'PYTHON' || { say 'what was traced'; cat out; }
import json
test = {test["test"]: test for test in json.load(open("out"))["tests"]}["parse/all [x] 100%"]
traced = test["traced"]
assert test["calls"] == 4002 and (traced["runs"], traced["processes"], traced["lost"]) == (2, 2, 0), test
# 16 blocks of 507 records: 8,000 records of a nanosecond at least, and of a millisecond at most.
assert 8 < traced["history_us"] < 8e6, traced
PYTHON
cat >killed.sh <<'EOF'
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ./records 1000 fork kill; done; true
EOF
gives 0 "$EPITAPH" budget run --traced --test=dies -- sh killed.sh
has epitaph-results/dies.traced 'processes = 24'
gives 0 "$EPITAPH" budget run --test=twelve --results=twelve -- sh killed.sh
has twelve/twelve.run 'processes = 24'
sed -i 's/^history = .*/history = long/' epitaph-results/*x*.traced
gives 3 "$EPITAPH" budget check
has out 'not a number of seconds'
rm epitaph-results/*.traced

# What people write stays, and is obeyed. 40,002 calls in 1 ms of 20 ns: 80 %; a MiB holds 65,024 calls: 2.93 ms.
cat >epitaph.budget <<'EOF'
# Ours: ask before raising a limit.
version = 1
tolerance = 0%
timestamp-every = 1

[test parse]      # the parser
max-calls = 40002
max-calls-per-unit = 4.001 # a record: parse, and its digits
unit = parse
max-overhead = 81%
min-history = 2.9ms
reference-cpu = 1 ms

[costs]
full = 20 ns
EOF
cp epitaph.budget ours
gives 0 "$EPITAPH" budget run --test=parse --results=res -- ./records 10000
gives 0 "$EPITAPH" budget check --results=res
for words in 'calls per run 40,002' 'calls per unit 4.00' 'predicted overhead 80.0 %' 'per MiB of ring 2.9'; do has out "$words"; done
for limit in 's/40002/40001/' 's/4.001/3.999/' 's/81%/79%/' 's/2.9ms/3ms/'; do
	sed "$limit" ours >epitaph.budget
	gives 4 "$EPITAPH" budget check --results=res
	has out 'parse: exceeded'
	has out 'to exclude: digit'
done
EPITAPH_BUDGET_RESULTS=res gives 4 "$EPITAPH" budget check
gives 4 "$EPITAPH" budget check --results=res --test=parse --test=parse
gives 2 "$EPITAPH" budget check --results=res --test=nowhere --test=parse
has err 'no test nowhere'
# Two runs added come to the same per run; units that are given.
gives 0 "$EPITAPH" budget run --test=parse --results=res --add -- ./records 10000
cp ours epitaph.budget
gives 0 "$EPITAPH" budget check --results=res
has out 'calls per run 40,002'
sed '/^unit/d; s/4.001/5/' ours >epitaph.budget
gives 1 "$EPITAPH" budget check --results=res
has out 'calls per unit not known'
gives 0 "$EPITAPH" budget run --test=parse --results=res --units=10000 -- ./records 10000
gives 0 "$EPITAPH" budget check --results=res

# The formats, by those who read them.
sed 's/40002/100/' ours >epitaph.budget
"$EPITAPH" budget run --results=res --test='new <&"> test' -- ./records 5 >/dev/null
printf '\n[test never "run"]\nmax-calls = 5\n' >>epitaph.budget
gives 4 "$EPITAPH" budget check --results=res
has out 'new <&"> test: unknown'
has out 'never "run": not run'
gives 4 "$EPITAPH" budget check --results=res --format=json
python3 - <<'PYTHON' || say 'the JSON'
import json
data = json.load(open("out"))
assert data["format"] == "epitaph-budget" and data["version"] == 1
tests = {test["test"]: test for test in data["tests"]}
assert {name: test["state"] for name, test in tests.items()} == {
    "parse": "exceeded", 'never "run"': "not run", 'new <&"> test': "unknown"}
assert tests["parse"]["limits"]["calls"]["exceeded"] and not tests["parse"]["limits"]["overhead_percent"]["exceeded"]
assert tests["parse"]["exclude"][0]["symbol"] == "digit" and tests["parse"]["lost"] == 0
PYTHON
gives 4 "$EPITAPH" budget check --results=res --format=json -o report.json
cmp -s out report.json && say 'the JSON is printed and written'
python3 -m json.tool report.json >/dev/null || say 'the file holds something else'
for gone in x junit github; do gives 64 "$EPITAPH" budget check --format=$gone; done
gives 2 "$EPITAPH" budget check --results=res --test=nobody

# Eight at once: nothing is lost, nothing half-written.
rm -rf par par.budget
for i in 1 2 3 4 5 6 7 8; do "$EPITAPH" budget run --results=par --test="t$((i % 4))" --add -- ./records 100 >/dev/null & done
wait
for i in 0 1 2 3; do
	has "par/t$i.run" 'runs = 2'
	has "par/t$i.run" 'calls = 804'
done
gives 2 "$EPITAPH" budget check --results=par par.budget
added >par.budget
gives 0 "$EPITAPH" budget check --results=par par.budget
[ "$(grep -c 'good' out)" = 4 ] || { say 'a test was lost'; cat out; }
[ "$(ls -A par | wc -l)" = 8 ] || { say 'something stayed behind'; ls -A par; }

# Damage is refused with its place.
printf '[test t0]\nmax-calls = lots\n' >bad.budget
gives 3 "$EPITAPH" budget check --results=par bad.budget
has err 'bad.budget:2:13:'
sed -i 's/^runs = 2/runs = x/' par/t0.run
gives 3 "$EPITAPH" budget check --results=par par.budget
has out 't0: damaged'
has out 't0.run:3:8:'
head -c 100 par/t1.counts >cut && cp cut par/t1.counts
gives 3 "$EPITAPH" budget check --results=par --test=t1 par.budget
cp par/t3.counts par/t2.counts
sed -i 's/calls = 804/calls = 805/' par/t2.run
gives 3 "$EPITAPH" budget check --results=par --test=t2 par.budget
has out 'run the test again'
gives 2 "$EPITAPH" budget check --results=nowhere new.budget
has err 'new.budget: no tests'
gives 64 "$EPITAPH" budget update
gives 3 "$EPITAPH" budget check --results=res -o no/such/folder/out

# Of another build the verdict is the same; the names are said to be missing.
cp ours epitaph.budget && sed -i 's/40002/100/; /unit/d' epitaph.budget
mv records gone
gives 4 "$EPITAPH" budget check --results=res --test=parse
has out 'calls per run 40,002'
has err records
[ "$failures" = 0 ]

# SPDX-License-Identifier: BSD-2-Clause
# timeout: 600
# report --json of every kind of source is what docs/report.schema.json says, by a validator that is not ours, and has what the
# text has.
# sanitized only
# leaks
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null ||
	{ echo "python3-jsonschema is missing (ci/install-deps installs it)"; exit 77; }

# json STATUS SOURCE [OPTIONS...]: the file "report" is valid, and is said to be partial as the status is.
json() {
	gives "$1" "$EPITAPH" report --json "${@:3}" "$2"
	mv out report
	python3 - "$TOP/docs/report.schema.json" report "$1" <<'END' || say "report --json ${*:2}"
import json, sys
import jsonschema
schema, report = (json.loads(open(f, encoding="utf-8", errors="strict").read()) for f in sys.argv[1:3])
jsonschema.Draft202012Validator.check_schema(schema)
errors = list(jsonschema.Draft202012Validator(schema).iter_errors(report))
for e in errors[:5]:
    print("\t", list(e.absolute_path), e.message[:300])
if report["partial"] != (sys.argv[3] == "1"):
    print("\tpartial is", report["partial"])
    errors.append("partial")
sys.exit(bool(errors))
END
}

# is EXPRESSION: of `r`, the report, and `dead`, its first thread.
is() {
	python3 - "$1" <<'END' || { say "not so: $1"; head -c 1500 report; }
import json, sys
r = json.load(open("report"))
dead = r["threads"][0] if r["threads"] else None
sys.exit(not eval(sys.argv[1]))
END
}

traced deaths deaths -fno-stack-protector
crash core.null env EPITAPH_TIMESTAMP_EVERY=1 "$PWD/deaths" null
json 0 core.null
is 'r["source"]["kind"] == "core" and r["source"]["trace"]'
is "r['process']['program'] == '$PWD/deaths' and r['process']['command'].endswith('deaths null')"
is "r['process']['build_id'] == '$(readelf -n deaths | awk '/Build ID/ { print $3 }')'"
is "r['machine']['page_size'] == $(getconf PAGESIZE) and r['machine']['kernel'] == '$(uname -r)' and r['machine']['platform'] == '$(uname -m)'"
is "r['machine']['host'] == '$(uname -n)' and r['process']['uid'] == $(id -u)"
is 'r["end"]["signal"]["name"] == "SIGSEGV" and r["end"]["signal"]["code_name"] == "SEGV_MAPERR" and r["end"]["signal"]["address"] == "0x18"'
is 'r["end"]["signal"]["thread"] == dead["tid"] == r["process"]["pid"] and dead["died"]'
is '[(x["function"], x["verdict"]) for x in dead["stack"]["rows"][:3]] == [(n, "agree") for n in ("die_null", "choose", "main")]'
is 'all(x["verdict"] == "not-instrumented" and x["reason"] == "no-hook" for x in dead["stack"]["rows"][3:])'
is 'dead["stack"]["rows"][0]["file"].endswith("deaths.c") and dead["stack"]["end"] == "start" and dead["history"]["reaches"] == "start"'
is '[c["function"] for c in dead["last_calls"]] == ["main"] + 3 * ["warm_up"] + ["choose", "die_null"]'
is '[c["in_flight"] for c in dead["last_calls"]] == [True, False, False, False, True, True]'
is 'all(("duration_ns" in c) == (c["function"] == "warm_up") for c in dead["last_calls"])'
[ "$("$EPITAPH" report --signature core.null | cut -d' ' -f1)" = "$(python3 -c 'import json; print(json.load(open("report"))["signature"]["key"])')" ] ||
	say 'the signature is another'
# Within the last minutes, and not before it began.
is "0 < $(date +%s%N) - r['process']['last_record_realtime_ns'] < 600 * 10**9"
is 'r["process"]["last_record_realtime_ns"] - r["process"]["started_realtime_ns"] - r["process"]["lived_ns"] in range(-1000000, 1000000)'
# A snapshot of it differs in nothing but its name.
gives 0 "$EPITAPH" extract -q -o snapshot core.null
mv report whole
json 0 snapshot
python3 -c '
import json
a, b = json.load(open("whole")), json.load(open("report"))
assert b["source"]["kind"] == "snapshot"
del a["source"], b["source"]
for end in a["end"], b["end"]:
	end.pop("silence", None) # by the time of the core file
	end.pop("moment")
assert a == b' || say 'the snapshot says something else'

gives 0 "$EPITAPH" extract -q --redact=cmdline,stacks -o redacted core.null
json 1 redacted
is 'r["source"]["redacted"] == ["cmdline", "stacks"] and r["process"]["command"] is None'

# Where stack and trace part.
crash core.smashed env EPITAPH_TIMESTAMP_EVERY=1 "$PWD/deaths" smashed
json 1 core.smashed
is 'dead["stack"]["rows"][dead["stack"]["overwritten_from"]]["function"] == "0x4141414141414141" and dead["stack"]["end"] == "nowhere"'
is '[x["function"] for x in dead["stack"]["rows"] if "called" in x] == ["die_smashed", "choose", "main"]'
is '[x["verdict"] for x in dead["stack"]["rows"] if "called" in x] == ["agree", "overwritten", "overwritten"]'
crash core.short env EPITAPH_RING=4K EPITAPH_TIMESTAMP_EVERY=64 "$PWD/deaths" overflow
json 0 core.short
is 'dead["stack"]["rows"][dead["stack"]["history_ends_at"]]["reason"] == "before-history" and not dead["stack"]["outermost_known"]'
is 'any(not x["called"]["exact"] for x in dead["stack"]["rows"] if "called" in x)'
is 'len([x for x in dead["stack"]["rows"] if x["function"] == "overflow_stack"]) > 1000'
# Cut behind the arena: no stack, and that is said.
crash core.deep env EPITAPH_RING=64K "$PWD/deaths" overflow
head -c $(($(readelf -lW core.deep | awk '$1 == "LOAD" { print $2 " + " $5; exit }') + 4096)) core.deep >core.cut
json 1 core.cut
is 'dead["stack"]["end"] == "unsaved"'
is 'dead["stack"]["rows"][-1]["function"] == "main" and dead["stack"]["rows"][-1]["verdict"] == "not-unwound"'
is 'any(w["code"] == "source" and "truncated" in w["text"] for w in r["warnings"])'
# Without a trace; the kernel keeps 79 bytes of the command.
gcc -g -O1 -w "$TOP/tests/programs/deaths.c" -lpthread -o plain
long=$(printf 'x%.0s' {1..120})
crash core.plain "$PWD/plain" abort
json 1 core.plain
is 'not r["source"]["trace"] and r["end"]["signal"]["name"] == "SIGABRT" and any(w["code"] == "no-trace" for w in r["warnings"])'
is 'dead["history"] is None and not r["process"]["command_cut"] and r["process"]["lived_ns"] is None'
is "r['machine']['kernel'] == '$(uname -r | grep -oE '^[0-9]+\.[0-9]+\.[0-9]+')'"
cat >long.c <<'END'
#include <stdlib.h>
int main(void) { abort(); }
END
gcc long.c -o long
crash core.long "$PWD/long" "$(printf 'x%.0s' {1..120})"
json 1 core.long
is 'r["process"]["command_cut"] and len(r["process"]["command"]) == 79'
gives 1 "$EPITAPH" report core.long
has out 'the kernel keeps no more than 79 bytes'

# Two threads; a live process, which goes on; killed from outside.
crash core.second "$PWD/deaths" null thread
json 0 core.second
is 'dead["name"] == "second" and r["threads"][1]["stack"]["rows"][0]["verdict"] == "not-instrumented"'
json 0 core.second --threads=0 --last=0
is 'len(r["threads"]) == 1 and r["threads_left_out"] == {"alive": 1, "ended": 0} and dead["last_calls"] == []'
rm -rf crash.dir && mkdir crash.dir && mkfifo ready
(cd crash.dir && exec ../deaths wait) >ready &
victim=$!
read -r _ <ready
json 0 "$victim"
is 'r["end"]["kind"] == "running" and r["source"]["kind"] == "live" and "signature" not in r'
is '[x["verdict"] for x in dead["stack"]["rows"]] == 3 * ["not-unwound"] and dead["stack"]["end"] == "none"'
kill -QUIT "$victim"
wait "$victim" 2>/dev/null || true
json 0 crash.dir/core*
is "r['end']['signal']['sender_pid'] == $$ and r['end']['signal']['code_name'] == 'SI_USER' and 'hang' in r"
is 'r["hang"]["threads"][0]["waits"] and r["hang"]["threads"][0]["call"]["function"] == "die_waiting"'

# The file of EPITAPH_FILE, of a process that is gone.
crash core.gone env EPITAPH_FILE="$PWD/arena" "$PWD/deaths" null
json 0 arena
is 'r["source"]["kind"] == "arena" and r["end"]["kind"] == "ended"'

# What the program said, and an exception that nobody caught.
cat >said.cc <<'END'
#include <cassert>
#include <stdexcept>
struct mine : std::runtime_error { using runtime_error::runtime_error; };
__attribute__((noinline)) void deep(int count) { if (count > 1) throw mine("no"); assert(count == 7); }
int main(int count, char **) { deep(count); }
END
"$BIN/epitaph-c++" -O1 -g said.cc -o said
crash core.said "$PWD/said"
json 0 core.said
is '"count == 7" in r["end"]["said"] and "uncaught_exception" not in dead'
crash core.thrown "$PWD/said" more
json 0 core.thrown
is 'dead["uncaught_exception"]["type"] == "mine" and dead["uncaught_exception"]["thrown_in"] == "deep(int)"'
is 'any(e["type"] == "point" and e["point"] == "throw" for e in dead["last_calls"])'

# Who waits for whom, as the program itself has written down who they are; threads that do the same are one group.
gcc -g -O1 "$TOP/tests/programs/lock_kinds.c" -o locks
lock() { # KIND: its core's report, and its log as `l`
	crash core.lock sh -c "exec $PWD/locks $1 >$PWD/log"
	json 1 core.lock --threads="$2"
}
log='{k: int(v, 0) for k, v in (x.split() for x in open("log"))}'
waits='{t["tid"]: g.get("wait") for g in r["groups"] for t in g["threads"]}'
lock mutex 0
is "[w['for'] for w in $waits.values() if w] == ['mutex'] and $waits[$log['waiter']]['holder'] == $log['holder']"
is "int($waits[$log['waiter']]['address'], 16) == $log['mutex'] and not $waits[$log['waiter']]['holder_gone'] and r['deadlocks'] == []"
is "[g['held'] for g in r['groups'] if g['threads'][0]['tid'] == $log['holder']] == [{'locks': 1, 'waiters': 1}]"
is 'any(g["functions"][:2] == ["pthread_mutex_lock", "wait_mutex"] and not g["runs"] and g["system_call"] == "futex" for g in r["groups"])'
is 'len(r["threads"]) == 1 and r["threads_left_out"]["alive"] == 2'
lock behind 9
is "$waits[$log['behind']]['behind'] == $log['waiter'] and $waits[$log['behind']]['readers'] == 1 and $waits[$log['waiter']]['to'] == 'write'"
is "[t['wait'] for t in r['threads'] if t['tid'] == $log['behind']] == [$waits[$log['behind']]]"
lock cycle-join 9
is "[sorted(d) for d in r['deadlocks']] == [sorted([$log['first'], $log['second']])] and $waits[$log['second']]['thread'] == $log['first']"
lock condition 9
is "int($waits[$log['waiter']]['mutex'], 16) == $log['mutex'] and int($waits[$log['waiter']]['address'], 16) == $log['condition']"
lock died-holds 0
is "r['died_holds'] == {'locks': 1, 'waiters': 1} and $waits[$log['waiter']]['holder'] == dead['tid']"
gives 1 "$EPITAPH" report --all core.lock
has out 'lock       waits for mutex'

# A watchdog that was not fed.
"$BIN/epitaph-cc" -g -O1 -I"$TOP" "$TOP/tests/programs/watched.c" -o watched -lpthread
crash core.watched "$PWD/watched" deadlock dog
json 0 core.watched
is 'r["watchdogs"][0]["misses"] >= 1 and r["end"]["missed_watchdog"] == r["watchdogs"][0]["name"] and r["hang"]["threads"]'
# The program's file is another build, or is gone: each has a code of its own.
mkdir moved
cp deaths moved/deaths
crash core.moved "$PWD/moved/deaths" null
cp "$BIN/epitaph" moved/deaths
json 1 core.moved
is '[w["code"] for w in r["warnings"] if "build-id of" in w["text"]] == ["other-build-id"]'
rm moved/deaths
json 1 core.moved
is '[w["code"] for w in r["warnings"] if w["text"].startswith("deaths: ")] == ["no-file"]'
exit $((failures != 0))

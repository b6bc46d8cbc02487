#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A handler of the program's makes another death of a fault: it raises the signal again, aborts, faults itself, jumps out. The
# report's head, `at`, last calls and signature are those of the first fault, in the kernel's core, in what is extracted of it, and
# in the one snapshot that EPITAPH_ON_CRASH leaves; below the signal frame the stack is gdb's.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

traced handlers handlers

below() { # FILE: the program's frames outside of the last signal frame
	grep -E '^ *#1?[0-9] ' "$1" | sed -E 's/^ *#[0-9]+ +(0x[0-9a-f]+ in )?([^ +]+).*/\2/' | awk '/<signal/ { n = 0; next } { list[n++] = $0 }
		END { for (i = 0; i < n; i++) if (list[i] ~ /culprit|choose|^main/) print list[i] }'
}

# as_gdb HOW CORE: the same stack
as_gdb() {
	timeout 60 gdb -nx -batch -iex 'set debug-file-directory /nonexistent' -ex 'echo stack\n' -ex 'bt 20' handlers "$2" 2>/dev/null | sed '1,/^stack/d' >gdb.out
	"$EPITAPH" report "$2" >page || [ $? -eq 1 ]
	below gdb.out >gdb.below
	below page >our.below
	cmp -s gdb.below our.below || { say "$1: not gdb's stack:"; diff gdb.below our.below || true; }
	[ "$(grep -c '<signal handler called>' gdb.out)" = "$(grep -c '<signal handler called>' page)" ] || say "$1: signal frames"
	[ "$(grep -c '^then  ' page)" = 1 ] || say "$1: no line of the second death"
}

# tells SOURCE HOW CULPRIT THEN: what the program said of itself (dead.out) is what is reported; looked at in the end
tells() {
	"$EPITAPH" report --json "$1" >"$1.json" 2>err || [ $? -eq 1 ] || say "$1: $(cat err)"
	echo "$1.json|$2|$3|$4|$(cat dead.out)" >>all
	rm "$1"
}

# dies HOW CULPRIT THEN [WHICH]: as the kernel's core, whole and extracted, and as a snapshot of its own
dies() {
	local how=$1
	rm -rf crash.dir shot.* && mkdir crash.dir
	{ (cd crash.dir && exec ../handlers "$how") >dead.out 2>/dev/null || true; } 2>/dev/null
	mv crash.dir/core* "$how.core"
	[[ ${4:-} != *gdb* ]] || as_gdb "$how" "$how.core"
	if [[ ${4:-} == *small* ]]; then
		"$EPITAPH" extract "$how.core" -o "$how.small" >/dev/null 2>&1 || [ $? -eq 1 ]
		tells "$how.small" "$how" "$2" "$3"
	fi
	tells "$how.core" "$how" "$2" "$3"
	[[ ${4:-} != *nothing* ]] || return 0
	{ (ulimit -c 0 && EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=shot.%n exec ./handlers "$how") >dead.out 2>err || true; } 2>/dev/null
	[ ! -s err ] || say "$how: $(cat err)"
	[ "$(ls shot.* | wc -l)" = "${5:-1}" ] || say "$how: $(ls shot.*)"
	mv "$(ls shot.* | tail -1)" "$how.shot"
	tells "$how.shot" "$how" "$2" -
}

itself='SIGSEGV: the process sent it to itself'
null='SIGSEGV: null pointer dereference, likely: address 0x0'
aborts='SIGABRT: handle_abort called abort()'
dies raise culprit "$itself" small
dies redis culprit "SIGSEGV: handle_raise sent it to its own process: raise()" gdb+small
dies direct culprit "$itself"
dies kill culprit "$itself" small
dies kill-others culprit "$itself"
dies abort culprit "$aborts" gdb
dies abort-info culprit "$aborts"
dies fault culprit "$null" gdb
dies own-stack culprit "$null" gdb+small
dies nested culprit "$aborts" gdb
dies return culprit ''
dies jump second_culprit "SIGABRT: handle_jump called abort()" - 2
dies call call_culprit "$aborts" small
dies divide divide_culprit "$aborts"
dies trap trap_culprit "$aborts"
dies wild wild_culprit "$aborts"
dies cut cut_culprit "$aborts" small
dies quit quit_culprit "$null"
dies self abort_culprit "$null"
dies overflow overflow_culprit "$aborts" small
# A handler of what kills nobody has a fault of its own: that is the first.
dies alarm second_culprit ''

# A thread of the runtime's own is shown when it is the one that died. It is there where scheduling is told.
rm -rf crash.dir && mkdir crash.dir
{ (cd crash.dir && EPITAPH_SCHED=perf exec ../handlers helper) >dead.out 2>/dev/null || true; } 2>/dev/null
if [ -s dead.out ]; then
	"$EPITAPH" report crash.dir/core* >page || [ $? -eq 1 ]
	has page "died of    SIGILL (illegal instruction) in thread $(cat dead.out)"
	has page "thread $(cat dead.out) died"
	sed -n '/ died:/,/^$/p' page | grep -q '#0 ' || say 'the helper: no stack'
fi

python3 - <<'PYTHON' || failures=1
import json, sys
wrong = []
for line in open("all"):
    source, how, culprit, then, said = line.rstrip("\n").split("|")
    signal, address = said.split()
    report = json.load(open(source))
    end, died = report["end"], report["threads"][0]
    def want(name, is_, wanted):
        if is_ != wanted:
            wrong.append(f"{source}: {name} is {is_}, not {wanted}")
    want("signal", end["signal"]["name"], signal)
    if address != "-":
        want("address", end["signal"].get("address"), address)
    want("thread", died["tid"], end["signal"]["thread"])
    want("died", died["died"], True)
    want("signature", report["signature"]["functions"][0], culprit)
    rows = [row for row in died["stack"]["rows"] if "frame" in row]
    at = next((row for row in rows if row["function"] == culprit), None)
    want("verdict", at and at["verdict"], "agree")
    if signal in ("SIGSEGV", "SIGFPE", "SIGILL", "SIGBUS") and how != "call":
        want("at", end.get("instruction", {}).get("pc"), at and at["pc"])
    if how not in ("alarm", "overflow"):
        calls = {call["function"] for call in died["last_calls"]}
        want("before", "before" in calls, True)
        want("noise", "noise" in calls, False)
    told = end.get("then")
    if then != "-" or told and source.endswith(".shot"):
        told = f"{told['name']}: {told['because']}" if told else ""
        if not told.startswith(then) or (told and not then):
            wrong.append(f"{source}: then {told}, not {then}")
    if how == "kill-others" and source.endswith(".core"):
        want("the other thread", end["then"]["thread"] != end["signal"]["thread"], True)
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
PYTHON
exit $((failures > 0))

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph control off, on, trace and untrace: what runs while a function is off is
# not in its trace, what runs before and afterwards is; the code has the bytes it
# was linked with in the end. Static and shared runtime, gcc and clang, stripped;
# an idle and a stopped process; under a breakpoint; two at once.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"
source "$TOP/tests/cli/lib/control.bash"
job=
trap 'kill -9 $job 2>/dev/null || true' EXIT

mkfifo in out
# begin PROGRAM [SETTING...]: as $pid; it is talked to by the descriptors 5 and 6.
begin() {
	local program=$1
	shift
	env "$@" "$program" <in >out 2>/dev/null &
	job=$!
	exec 5>in 6<out
	read -r word <&6
	[ "$word" = ready ] || fail "begun: $word"
	pid=$job
}
finish() {
	exec 5>&-
	wait "$job" || fail "it ended with $?"
	exec 6<&-
	job=
}
says() { # PATTERN FILE
	grep -Eq -- "$1" "$2" || fail "no \"$1\" in: $(cat "$2")"
}
steps() { # how often step was called, by its history
	local result=0
	"$epitaph" replay --thread switched --format=tsv "$pid" >events 2>err || result=$?
	[ $result -le 1 ] || grep -q 'no call fits' err || fail "replay: $result, $(cat err)"
	grep -c '^B.*	step	' events || true
}
code_of() { # FILE: the code of the program, as it is in memory
	python3 - "$pid" "$1" <<'PY'
import sys
pid, out = sys.argv[1:]
with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory, open(out, "wb") as file:
    for line in maps:
        words = line.split()
        if words[1] == "r-xp" and words[-1].endswith("switched"):
            start, end = (int(n, 16) for n in words[0].split("-"))
            memory.seek(start)
            file.write(memory.read(end - start))
PY
}

# each PROGRAM NAME: what holds for all builds; NAME of a function that is called by "step".
each() {
	begin "$1"
	code_of before
	ask step
	[ "$(steps)" = 1 ] || fail "$1: $(steps) steps"
	control 0 "$pid" untrace step
	says ': 1 function off, 2 hooks, 2 of them changed$' said
	control 0 "$pid" untrace 'st?p' step
	says ' 0 of them changed; 1 was so already' said
	ask step
	ask step
	[ "$(steps)" = 1 ] || fail "$1: recorded while it was off"
	control 0 "$pid" trace 's[t]ep' nobody
	says ': 1 function traced, .* 2 hooks, 2 of them changed$' said
	ask step
	[ "$(steps)" = 2 ] || fail "$1: $(steps) steps afterwards"
	code_of after
	cmp before after || fail "$1: its code is not what it was"

	# ---- everything: hooks that run often go out of the code, and come back
	control 0 "$pid" off
	says ': off; each hook goes out' said
	control 0 "$pid" off
	says 'off already' said
	ask many
	ask many
	code_of off
	! cmp -s before off || fail "$1: no hook went out of the code"
	[ "$(steps)" = 2 ] || fail "$1: recorded while everything was off"
	control 0 "$pid" on
	says ': on; ' said
	code_of after
	cmp before after || fail "$1: its code is not what it was, after on"
	ask step
	[ "$(steps)" = 3 ] || fail "$1: $(steps) steps, after on"
	control 0 "$pid" on
	says 'was on' said

	# ---- off twice over: both have to end
	control 0 "$pid" -q untrace '*'
	[ ! -s said ] || fail "-q: $(cat said)"
	control 0 "$pid" off
	control 0 "$pid" on
	ask step
	[ "$(steps)" = 3 ] || fail "$1: on again though untraced"
	control 0 "$pid" trace '*'
	ask step
	[ "$(steps)" = 4 ] || fail "$1: not traced again"
	code_of after
	cmp before after || fail "$1: its code is not what it was, in the end"
	finish
}

source=$TOP/tests/programs/switched.c
for flags in "" "-static" "-epitaph-runtime=shared" "-fcf-protection=full -flto" "-static-pie -fPIE" \
	"-epitaph-method=finstrument -O0" "-fno-pie -no-pie"; do
	# shellcheck disable=SC2086
	"$BIN/epitaph-cc" -O2 $flags -pthread "$source" -o switched
	each ./switched
done
for flags in "" "-epitaph-method=xray" "-epitaph-method=xray -epitaph-runtime=shared"; do
	# shellcheck disable=SC2086
	EPITAPH_CC=clang "$BIN/epitaph-cc" -O2 $flags -pthread "$source" -o switched
	each ./switched
done

# ---- sleds of a process that was started with EPITAPH=off: nothing of them was touched before
EPITAPH_CC=clang "$BIN/epitaph-cc" -epitaph-method=xray -O2 -pthread "$source" -o switched
begin ./switched EPITAPH=off
code_of before
objcopy -O binary -j .text switched linked
readelf -SW switched | sed 's/\[ */[/' >sections
nm switched >symbols
python3 - <<'PY' || fail "sleds: written to before they were on"
import sys
# The hooks themselves have been sent to where the kernel asks for times (runtime/record/asks.h).
symbols = {name: int(address, 16) for address, _, name in (line.split() for line in open("symbols") if len(line.split()) == 3)}
linked, before = open("linked", "rb").read(), open("before", "rb").read()
hooks = symbols["ep_hooks_begin"], symbols["ep_hooks_end_here"]
text = int(next(line.split()[3] for line in open("sections") if ".text " in line), 16)
first, last = (at - text for at in hooks)
rest = before.find(linked[:first])
sys.exit(rest < 0 or before[rest + last:rest + len(linked)] != linked[last:] or last - first > 8192)
PY
ask step
control 0 "$pid" untrace many
says '^pid [0-9]*: 1 function off' said
control 0 "$pid" on
says ': on; ' said
ask step
ask many
[ "$(steps)" = 1001 ] || fail "sleds: $(steps) steps once they were on"
! grep -q '	many	' events || fail "sleds: one is on that was untraced before"
control 0 "$pid" trace many
ask many
[ "$(steps)" = 2001 ] || fail "sleds: $(steps) steps"
grep -q '	many	' events || fail "sleds: it is not on again"
finish

# ---- a process that is stopped, and started with EPITAPH=off
"$BIN/epitaph-cc" -O1 -pthread "$source" -o switched
begin ./switched EPITAPH=off
kill -STOP "$pid"
control 0 "$pid" untrace step
control 0 "$pid" on
says ': on; ' said
control 0 "$pid" trace step
kill -CONT "$pid"
ask step
[ "$(steps)" = 1 ] || fail "stopped: $(steps) steps"

# ---- what matches nothing, or has no hooks
control 2 "$pid" untrace 'nothing_is_named_so'
says 'no function is named so; epitaph stats' err
control 2 "$pid" untrace say_nothing printf
says 'none has a hook|is named so' err
control 64 "$pid" untrace
says 'takes patterns' err
control 64 "$pid" off now

# ---- a breakpoint stays, and is reported
if command -v gdb >/dev/null; then
	place=$(python3 - "$pid" <<'PY'
import re, subprocess, sys
pid = sys.argv[1]
base = None
for line in open(f"/proc/{pid}/maps"):
    if line.rstrip().endswith("switched"):
        base = int(line.split("-")[0], 16)
        break
for line in subprocess.check_output(["nm", "switched"], text=True).splitlines():
    words = line.split()
    if words[-1] == "step":
        print(base + int(words[0], 16))
PY
	)
	# Its first instruction is the hook's call, perhaps behind an endbr64, or a 67.
	held=$(python3 - "$pid" "$place" <<'PY'
import sys
pid, place = int(sys.argv[1]), int(sys.argv[2])
with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
    memory.seek(place)
    at = place + memory.read(8).index(b"\xe8")
    memory.seek(at)
    memory.write(b"\xcc") # as a debugger does
print(at)
PY
	)
	control 1 "$pid" untrace step
	says '1 hooks are held by a debugger' err
	byte=$(python3 -c 'import sys
with open(f"/proc/{sys.argv[1]}/mem", "rb") as m: m.seek(int(sys.argv[2])); print(m.read(1).hex())' "$pid" "$held")
	[ "$byte" = cc ] || fail "the breakpoint became $byte"
	python3 -c 'import sys
with open(f"/proc/{sys.argv[1]}/mem", "r+b", buffering=0) as m: m.seek(int(sys.argv[2])); m.write(b"\xe8")' "$pid" "$held"
	control 0 "$pid" untrace step
	says '1 of them changed' said
	control 0 "$pid" trace step
fi

# ---- two at once: whoever is last is right, and nothing is left behind
code_of before
for n in 1 2; do
	for _ in 1 2 3 4 5; do
		"$epitaph" control -q "$pid" untrace '*'
		"$epitaph" control -q "$pid" off
		"$epitaph" control -q "$pid" trace '*'
		"$epitaph" control -q "$pid" on
	done &
	loops="${loops:-} $!"
done
# shellcheck disable=SC2086
wait $loops
control 0 "$pid" trace '*'
control 0 "$pid" on
code_of after
cmp before after || fail "two at once: its code is not what it was"
finish

# ---- hooks, status: what is off, why, since when
begin ./switched
control 0 "$pid" hooks
says '^functions  0 off$' said
says '^code       not changed by the process itself' said
ask step
ask untrace
control 0 "$pid" untrace step
control 0 "$pid" trace many
control 0 "$pid" hooks
says '^off  name, control .* [mun]?s .* 1  step \(switched\)$' said
says '^on   kept  .* 0  many \(switched\)$' said
says '^functions  [0-9] off: 1 by name, 1 by control$' said
control 0 "$pid" hooks -j
python3 -c 'import json
s = json.load(open("said"))
f = {one["function"]: one for one in s["functions"]}
assert f["step"]["off"] and f["step"]["why"] == ["name", "control"] and f["step"]["off_ns"] > 0, f
assert not f["many"]["off"] and f["many"]["kept"] and "off_ns" not in f["many"], f
assert s["off_by_name"] == 1 and s["off_by_control"] == 1 and s["off_by_budget"] == 0, s
assert s["code_changed_by"] == "file", s'
control 0 "$pid" trace step
says 'stay off, for the program has untraced them' err
ask trace
control 0 "$pid" hooks
says '^on   kept .* step' said
control 0 "$pid" off
control 0 "$pid" status
says '^off        everything, for ' said
says '^code       changed by ' said
control 0 "$pid" status -j
python3 -c 'import json
s = json.load(open("said"))["switching"]
assert s["everything_off_ns"] > 0 and s["functions_off"] == 0, s'
control 0 "$pid" on
# A forked child begins with what is off, and goes on by itself.
control 0 "$pid" untrace step
echo fork >&5
read -r child <&6
jobs_of="$child"
control 0 "$child" hooks
says '^off  control .* step \(switched\)$' said
control 0 "$child" trace step
control 0 "$pid" hooks
says '^off  control .* step \(switched\)$' said
kill -9 "$child"
# As it was when the snapshot was taken.
control 0 "$pid" snapshot -o later.core
control 0 later.core hooks
says '^off  control .* step \(switched\)$' said
control 64 later.core untrace step
finish

# ---- what the budget took comes back for good
"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/controlled.c" -o controlled
begin ./controlled EPITAPH_BUDGET=5%
for _ in $(seq 400); do
	control 0 "$pid" hooks
	! grep -q '^off  budget .* leaf' said || break
	sleep 0.05
done
says '^off  budget .* leaf \(controlled\)$' said
control 0 "$pid" trace leaf
for _ in $(seq 10); do
	control 0 "$pid" hooks
	says '^on   kept .* leaf \(controlled\)$' said
	sleep 0.05
done
kill -9 "$pid"
wait "$job" 2>/dev/null || true
exec 5>&- 6<&-

# ---- under valgrind, which has translated the code: it is left as it is
if command -v valgrind >/dev/null; then
	valgrind -q ./switched <in >out 2>/dev/null &
	job=$!
	exec 5>in 6<out
	read -r word <&6
	pid=$job
	control 3 "$pid" untrace step
	says 'valgrind runs it' err
	control 0 "$pid" off
	says 'stay in the code and do nothing \(valgrind runs it\)' said
	control 0 "$pid" hooks
	says '^code       not changed: valgrind runs it' said
	kill -9 "$pid"
	wait "$job" 2>/dev/null || true
	exec 5>&- 6<&-
fi

# ---- stripped: exported names are there, others are not, which is said
"$BIN/epitaph-cc" -O1 -pthread -rdynamic -Wl,--build-id "$source" -o switched
id=$(readelf -n switched | sed -n 's/.*Build ID: //p')
mkdir -p debug/.build-id/"${id:0:2}"
objcopy --only-keep-debug switched debug/.build-id/"${id:0:2}/${id:2}.debug"
strip switched
begin ./switched
control 0 "$pid" untrace main
control 2 "$pid" untrace branch_off
says 'stripped, so that only what they export has a name' err
control 0 "$pid" untrace --debug-path=debug branch_off
says ': 1 function off, ' said
finish

# ---- it ends, or becomes another program, before its turn
begin ./switched
kill -9 "$pid"
wait "$job" 2>/dev/null || true
control 3 "$pid" untrace step
says 'no such process' err

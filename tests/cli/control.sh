#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph control on a running process: switched on after EPITAPH=off, paused and
# resumed, timed, looked at, photographed; each told by its trace. Children begin
# as paused as their parent was. What cannot be is refused with a reason.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"
source "$TOP/tests/cli/lib/control.bash"

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/controlled.c" -o controlled
mkfifo in out
# begin SETTING...: starts it as $pid, talks to it by the descriptors 5 and 6.
begin() {
	env "$@" sh -c 'echo $$ >pid; ulimit -c unlimited; exec ./controlled' <in >out 2>/dev/null &
	job=$!
	exec 5>in 6<out
	read -r word <&6
	[ "$word" = ready ] || fail "begun: $word"
	pid=$(cat pid)
}
finish() {
	kill -9 "$pid" 2>/dev/null || true
	wait "$job" 2>/dev/null || true
	exec 5>&- 6<&-
}
trap 'kill -9 "$pid" $child 2>/dev/null || true' EXIT
child=
status() { # EXPRESSION on `s`, the dictionary of status --json
	control 0 "${2:-$pid}" status --json
	python3 -c 'import json, sys
s = json.load(open("said"))
threads = {t["name"]: t for t in s["threads"]}
print(eval(sys.argv[1]))' "$1"
}
is() { # WANTED EXPRESSION [PID]
	local got
	got=$(status "$2" "${3:-$pid}")
	[ "$got" = "$1" ] || fail "$2: $got, not $1"
}
steps() { # SOURCE: how often step was called in what is left of its history
	local result=0
	"$epitaph" replay --thread controlled --format=tsv "$1" >events 2>err || result=$?
	[ $result -le 1 ] || grep -q 'no call fits' err || fail "replay of $1: $result, $(cat err)"
	grep -c '^B.*	step	' events || true
}

# ---- started with EPITAPH=off, switched on
begin EPITAPH=off
is "['start']" 's["paused_by"]'
is 0 'sum(t["blocks_entered"] for t in s["threads"])'
ask step
is 0 'sum(t["blocks_entered"] for t in s["threads"])'
control 0 "$pid" resume
grep -q resumed said
is True 's["recording"]'
ask step
control 0 "$pid" snapshot -o on.core
[ "$(cat said)" = on.core ] || fail "snapshot told no path: $(cat said)"
[ "$(steps on.core)" = 1 ] || fail "$(steps on.core) steps"
# It was paused before: its history does not begin with the thread's first call.
"$epitaph" replay --thread busy on.core >tree || [ $? -eq 1 ]
is True 'threads["busy"]["blocks_entered"] > 0'

# ---- paused: the busy threads stop within a block
control 0 "pid:$pid" pause
grep -q paused said
is "['control']" 's["paused_by"]'
before=$(status '[t["blocks_entered"] for t in s["threads"]]')
sleep 0.2
after=$(status '[t["blocks_entered"] for t in s["threads"]]')
python3 -c 'import sys
before, after = map(eval, sys.argv[1:])
assert all(b - a <= 1 for a, b in zip(before, after)), (before, after)' "$before" "$after"
last=$(status '[t["blocks_entered"] for t in s["threads"]]')
[ "$after" = "$last" ] || fail "it goes on: $after, $last"
ask step
control 0 "$pid" snapshot -o paused.core
[ "$(steps paused.core)" = 1 ] || fail "recorded while paused"
control 0 "$pid" pause
grep -q already said
is 1 's["control_pauses"]'

# ---- resumed: the gap is shown, and by whose pause does not matter
control 0 "$pid" resume
ask step
control 0 "$pid" snapshot -o resumed.core
[ "$(steps resumed.core)" = 2 ] || fail "$(steps resumed.core) steps"
"$epitaph" replay --thread controlled resumed.core >tree || [ $? -eq 1 ]
grep -q 'paused' tree || { cat tree; fail "no gap"; }

# ---- the program's own pauses are its own
ask pause
control 0 "$pid" pause
is "['control', 'program']" 's["paused_by"]'
control 1 "$pid" resume
grep -q 'epitaph_pause' err || fail "$(cat err)"
is "['program']" 's["paused_by"]'
control 0 "$pid" pause
ask resume
is "['control']" 's["paused_by"]'
control 0 "$pid" resume
is True 's["recording"]'

# ---- timing
control 0 "$pid" timing 8
is 8 's["timestamp_every"]'
sleep 0.1
# Paused: a ring that is run through in less than a millisecond is not read in time.
control 0 "$pid" pause
control 0 "$pid" snapshot -o timed.core
control 0 "$pid" resume
result=0
"$epitaph" info --json timed.core >info.json || [ $? -eq 1 ]
python3 -c 'import json
busy = [t for t in json.load(open("info.json"))["threads"] if t["name"] == "busy"]
assert len(busy) == 2
for t in busy:
	assert set(t["every"][-10:]) == {8}, t["every"][-20:]'
control 0 "$pid" timing auto
is 0 's["timestamp_every"]'
for bad in 3 128 0 -1 x 8x ''; do control 64 "$pid" timing "$bad"; done
is 0 's["timestamp_every"]'

# ---- children
control 0 "$pid" pause
ask fork
child=$word
control 0 "$child" status
is "['control']" 's["paused_by"]' "$child"
is "$child" 's["own_pid"]' "$child"
control 0 "$child" resume
is True 's["recording"]' "$child"
is "['control']" 's["paused_by"]'
kill -9 "$child"
control 0 "$pid" resume

# ---- a crash after all that
ask crash || true
wait "$job" 2>/dev/null || true
mv core core.of 2>/dev/null || mv core.* core.of
"$epitaph" info core.of >text || fail "info: $? $(cat text)"
# A thread may have been at it when the kernel stopped it.
grep -qE '^lost  *(nothing|[0-9]+ blocks were just being entered)$' text || { cat text; fail "something is lost"; }
exec 5>&- 6<&-

# ---- EPITAPH_MIN_DURATION: every time is needed
begin EPITAPH_MIN_DURATION=1us
control 64 "$pid" timing 8
grep -q EPITAPH_MIN_DURATION err
control 0 "$pid" timing 1
ask step
control 0 "$pid" pause
control 0 "$pid" resume
finish

# ---- refused
control 3 "$pid" status
grep -q 'no such process' err
control 64 "$$" bogus
control 64 "$$" timing
control 64 "$$" pause 1
control 64 core.of status
control 64 0 status
touch "$$" # a file of that name is not meant
control 2 "$$" status
grep -q 'no trace' err || fail "$(cat err)"
control 2 "$$" pause

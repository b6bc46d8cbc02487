#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# export -f funtrace of a trace with scheduling events: FTRACETX, whose lines a reader of ftrace's text takes: the same switches
# as the other outputs have, at the TSC's times, and task_rename with each thread's name; epitaph reads all of it back.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/sched.bash"
need_scheduling
export PYTHONPATH=$TOP/tests/cli/lib PYTHONDONTWRITEBYTECODE=1

exported() { # FORMAT FILE SOURCE
	local status=0
	"$EPITAPH" export -f "$1" -o "$2" "$3" 2>err || status=$?
	[ $status -le 1 ] || { say "$1 of $3: status $status"; cat err; }
}

cat >look.py <<'END'
import json, re, sys
from funtrace import Raw
raw = Raw("raw")
assert raw.chunks[-2:] == [b"FTRACETX", b"ENDTRACE"], raw.chunks
assert all(a[0] <= b[0] for a, b in zip(raw.events, raw.events[1:])), "times go back"
names = {who[1]: who[2] for who, _, _ in raw.threads}
assert len(names) == 2 and "answerer" in names.values(), names
last = {}
for time, event, text in raw.events:
    if event == "task_rename":
        pid, new = re.fullmatch(r"pid=(\d+) oldcomm=.* newcomm=(.*) oom_score_adj=-?\d+", text).groups()
        last[int(pid)] = new
assert all(last.get(tid) == name for tid, name in names.items()), (names, last)

# The nap of 40 ms is a sleep of its thread; times are those of the calls.
(_, main, _), entries, _ = raw.threads[0]
nap = next(call for call in raw.calls(entries) if call[1] == "waits_nap")
switches = [(time, *map(int, re.search(r"prev_pid=(\d+) .* next_pid=(\d+) ", text).groups()))
            for time, event, text in raw.events if event == "sched_switch"]
left = [t for t, prev, _ in switches if prev == main and nap[2] <= t <= nap[3]]
back = [t for t, _, following in switches if following == main and nap[2] <= t <= nap[3]]
assert left and back and (back[-1] - left[0]) / raw.hz > 0.039, (nap, left, back)

# As the viewers' text of the core has them, and that of the file itself, but for the times.
def lines(path):
    text = json.load(open(path))["systemTraceEvents"]
    return [re.sub(r" +\d+\.\d+: ", ": ", line) for line in text.split("\n") if line and line[0] != "#"]
ours = [re.sub(r" \d+: ", ": ", line, count=1) for line in open("text", encoding="utf-8").read().splitlines()]
assert lines("again.json") == ours, "read back"
events = [line for line in ours if ": task_rename: " not in line]
assert len(events) >= 40 and lines("core.json")[-len(events):] == events, "beside viztracer"
info = json.load(open("info"))["funtrace"]
assert info["scheduling_events"] == len(raw.events) and info["scheduling_refused"] == 0, info
END

"$BIN/epitaph-cc" -O1 -g -pthread "$TOP/tests/programs/waits.c" -o waits
for source in "${sources[@]}"; do
	rm -f core core.*
	EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=$source awake crash 134 ./waits recorded ping100 nap settle abort
	exported funtrace raw core
	exported viztracer core.json core
	exported viztracer again.json raw
	exported funtrace again raw
	"$EPITAPH" info --json raw >info 2>err || [ $? -eq 1 ] || say "$source: info"
	python3 -c '
import struct
data = open("raw", "rb").read()
at = data.index(b"FTRACETX")
open("text", "wb").write(data[at + 16:at + 16 + struct.unpack_from("<Q", data, at + 8)[0]])
again = open("again", "rb").read()
assert again[again.index(b"FTRACETX"):] == data[at:], "again"' 2>why ||
		say "$source: the funtrace.raw of the funtrace.raw has other lines: $(tail -n 1 why)"
	python3 look.py 2>why || say "$source: $(tail -n 1 why)"
done
[ $failures -eq 0 ]

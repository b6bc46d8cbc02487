#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What a thread that did not die was doing: in which system call, by its registers alone (gdb says the same), and with
# scheduling events since when; and the events in exports for viewers, as trace-cmd's own reader of the text wants them.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
need_scheduling

tell() { # OUTPUT COMMAND...: a status of 1 is partial, and good
	"${@:2}" >"$1" || [ $? -eq 1 ]
}
cat >stuck.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "own_events.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2];
__attribute__((noinline)) void locks(void) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); }
__attribute__((noinline)) void reads(void) { char c[80]; if (read(pipes[0], c, 77) != 1) abort(); }
static void *locker(void *a) { pthread_setname_np(pthread_self(), "locker"); locks(); return a; }
static void *reader(void *a) { pthread_setname_np(pthread_self(), "reader"); reads(); return a; }
int main(void)
{
	const char *source = getenv("EPITAPH_SCHED");
	pthread_t t;
	for (int i = 0; i < 1000 && strcmp(source, "off") && !own_events_are_on(source); i++) usleep(10000);
	if (pipe(pipes)) return 1;
	pthread_mutex_lock(&mutex);
	pthread_create(&t, NULL, locker, NULL);
	pthread_create(&t, NULL, reader, NULL);
	usleep(50000);
	usleep(150000);
	*(volatile int *)8 = 0;
}
C
"$BIN/epitaph-cc" -g -O1 -pthread -I"$TOP/tests/programs" stuck.c -o stuck

state() { awk -v name="$1" '/^thread/ { on = $3 == name || $3 == name ":" } on && /^  state/ { print; exit }' out; }

for source in off "${sources[@]}"; do
	EPITAPH_SCHED=$source crash 139 ./stuck
	tell out "$EPITAPH" report --all core
	[[ $(state locker) == *'futex(0x'* ]] || fail "$source: locker: $(state locker)"
	[[ $(state reader) == *'read(3, 0x'*', 77)' ]] || fail "$source: reader: $(state reader)"
	# A thread that a fault stopped is in no system call.
	[[ $(state stuck) != *' in '* ]] || fail "$source: main: $(state stuck)"
	[ $source = off ] && continue
	for thread in locker reader; do
		[[ $(state $thread) =~ blocked\ for\ (1[5-9][0-9]|[2-9][0-9][0-9])\.[0-9]+\ ms.*after\ it\ ran ]] ||
			[[ $(state $thread) =~ blocked\ for\ [0-9.]+\ s ]] || fail "$source: $thread: $(state $thread)"
	done
	for format in viztracer chrome; do
		tell $format.json "$EPITAPH" export -f $format core
		python3 - $format.json $source <<'P'
import json, re, sys
trace = json.load(open(sys.argv[1]))
lines = [l for l in trace["systemTraceEvents"].split("\n") if l and not l.startswith("#")]
shape = re.compile(r"^ *(.+)-(\d+) +\[(\d+)\] \S+ +(\d+\.\d+): (sched_\w+): (.*)$")
events = [shape.match(l).groups() for l in lines]
times = [float(e[3]) for e in events]
assert times == sorted(times) and times[0] >= 0
switch = re.compile(r"prev_comm=.* prev_pid=(\d+) prev_prio=\d+ prev_state=(\S+) ==> next_comm=.* next_pid=(\d+) next_prio=\d+$")
switches = [switch.match(e[5]).groups() for e in events if e[4] == "sched_switch"]
tids = {m["tid"]: m["args"]["name"] for m in trace["traceEvents"] if m["name"] == "thread_name"}
reader, = [t for t, name in tids.items() if name.startswith("reader")]
assert [s for s in switches if int(s[0]) == reader and s[1] == "S"], (reader, switches)
# In the scale of the calls: the reader waits after its call began.
began, = [e["ts"] for e in trace["traceEvents"] if e.get("name", "").startswith("reads") and e["ph"] in "XB"]
left = [float(e[3]) for e in events if e[4] == "sched_switch" and f"prev_pid={reader} " in e[5]]
assert abs(left[-1] * 1e6 - began) < 20000, (left, began)
assert sys.argv[2] == "perf" or [e for e in events if e[4] == "sched_waking"]
P
	done
done

# The other debugger's view of the same core.
number=$(gdb -batch -ex 'thread apply all print $orig_rax' stuck core 2>/dev/null | awk '/^\$/ && $3 == 202' | wc -l)
[ "$number" -ge 1 ] || fail "gdb sees no thread in futex"

# What only tracefs has: system calls inside of the calls that made them, as strace has them; and the CPUs of the machine.
has_source ftrace || exit 0
"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/waits.c" -o waits
EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=ftrace EPITAPH_SCHED_EVENTS=raw_syscalls crash 134 ./waits recorded nap ping2 settle abort
tell out "$EPITAPH" replay -t waits core
awk '/waits_nap\(\) \{/ { on = 1 } on && /clock_nanosleep\(0, 0, 0x/ && / = 0$/ { good = 1 } /} \/\* waits_nap/ { on = 0 } END { exit !good }' out ||
	fail "nap: $(cat out)"
[ "$(grep -cE 'write\([0-9]+, 0x[0-9a-f]+, 1\) = 1$' out)" -eq 2 ] || fail "writes: $(cat out)"
# Interrupts and page faults, too, where they came; and all of it in the exports. A program that runs for half a second is
# interrupted; each page that it touches first is a fault.
cat >busy.c <<'C'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void touch(char *pages) { for (int i = 0; i < 64; i++) pages[i * 4096] = 1; }
__attribute__((noinline)) void spin(void) { for (volatile long i = 0; i < 5000000; i++); }
int main(void)
{
	touch(malloc(1 << 20));
	for (int i = 0; i < 50; i++) spin();
	getppid();
	usleep(50000);
	abort();
}
C
"$BIN/epitaph-cc" -g -O1 busy.c -o busy
EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=ftrace EPITAPH_SCHED_EVENTS=raw_syscalls,irq,page_faults EPITAPH_SCHED_MEMORY=32M EPITAPH_MEMORY=512M crash 134 ./busy
tell out "$EPITAPH" info core
grep -q 'make no sense' out && fail "$(cat out)"
tell out "$EPITAPH" replay core
[ "$(awk '/touch\(/ { on = 1 } on && / page fault at 0x/ { n++ } / spin\(/ { on = 0 } END { print n + 0 }' out)" -ge 60 ] || fail "faults: $(head -99 out)"
grep -Eq '^ .* [0-9.]+ [nu]s  +(soft interrupt [A-Z_]+|interrupt [0-9]+)$' out || fail "interrupts: $(grep -v fault out | head -99)"
for format in viztracer chrome; do
	tell $format.json "$EPITAPH" export -f $format core
	python3 - $format.json <<'P'
import json, re, sys
trace = json.load(open(sys.argv[1]))
lines = [l for l in trace["systemTraceEvents"].split("\n") if l and not l.startswith("#")]
shape = re.compile(r"^ *(.+)-(\d+) +\[(\d+)\] \S+ +(\d+\.\d+): (\w+): (.*)$")
events = [shape.match(l).groups() for l in lines]
times = [float(e[3]) for e in events]
assert times == sorted(times)
kinds = {}
for e in events:
    kinds.setdefault(e[4], []).append(e[5])
# getppid is 110, and has a result; arguments and results as trace-cmd prints them.
assert [w for w in kinds["sys_enter"] if re.match(r"NR 110 \(([0-9a-f]+, ){5}[0-9a-f]+\)$", w)]
assert [w for w in kinds["sys_exit"] if re.match(r"NR 110 = [1-9]\d*$", w)]
assert all(re.match(r"vec=\d \[action=[A-Z_]+\]$", w) for k in ("softirq_entry", "softirq_exit") for w in kinds.get(k, []))
assert len(kinds["page_fault_user"]) >= 60 and kinds.get("softirq_entry", []) + kinds.get("irq_handler_entry", [])
# On tracks of their own: the CPUs'; and in the thread.
own = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
cpus = {e["tid"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name" and e["pid"] == 0}
slices = [e for e in own if e["ph"] == "X"]
assert slices and all(e["pid"] == 0 and e["tid"] in cpus and "interrupt " in e["name"] and e["dur"] >= 0 for e in slices)
parent, = [e for e in own if e["name"].startswith("getppid(")]
assert parent["ph"] == "i" and parent["pid"] != 0 and parent["args"]["result"] > 0
touch, = [e for e in trace["traceEvents"] if e.get("name", "").startswith("touch") and e["ph"] == "X"]
assert sum(touch["ts"] <= e["ts"] <= touch["ts"] + touch["dur"] for e in own if e["name"].startswith("page fault at 0x")) >= 60
P
done
# The dead one's instance goes on recording the machine, which is busy until somebody reads the core.
EPITAPH_SCHED=ftrace EPITAPH_SCHED_SCOPE=machine crash 134 ./waits recorded nap ping2 settle abort
EPITAPH_SCHED=off ./waits ping50000 >busy
tell info.json "$EPITAPH" info --json core
python3 -c '
import json
s = json.load(open("info.json"))["scheduling"]
assert s["machine"] and s["cpus"], s
for c in s["cpus"]:
    assert 0 <= c["own_ns"] <= c["busy_ns"] <= s["recorded_ns"] + 1000, s
assert sum(c["own_ns"] for c in s["cpus"]) > 0, s'
tell out "$EPITAPH" info core
grep -Eq '^ +CPU [0-9]+: [0-9.]+ % busy, [0-9.]+ % with this process$' out || fail "$(cat out)"
EPITAPH_SCHED=ftrace ./stuck || true # removes the instance of the one that crashed, and leaves another

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What replay gives as the earliest and the latest of a call holds the time that the program's own clock has for it: at default time
# stamps, with waits, computations, vfork and programs that use rseq themselves, with scheduling
# events and without.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

cat >check.py <<'PYTHON'
import statistics, sys

truth = [tuple(map(int, line.split())) for line in open("truth")]
calls = {"B": [], "E": []}
for line in open("tsv"):
    f = line.rstrip("\n").split("\t")
    if f[0] in calls and f[7] == "mark":
        calls[f[0]].append((int(f[2]), int(f[3]) if f[3] != "-" else 1 << 62))
assert len(calls["B"]) == len(calls["E"]) == len(truth) > 3000, [len(c) for c in calls.values()]
# The two clocks: by calls that have times, and were not disturbed.
offset = statistics.median_low([low - (begun + ended) // 2 for (begun, ended), (low, high) in zip(truth, calls["B"]) if low == high and ended - begun < 3000])
wrong = [(n, kind, begun, ended, low - offset, high - offset) for kind, list in calls.items() for n, ((begun, ended), (low, high)) in enumerate(zip(truth, list))
         if max(begun - (high - offset), low - offset - ended) > 3000]
assert not wrong, (len(wrong), wrong[:5])
PYTHON
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/intervals.c" -o intervals
export EPITAPH_RING=64M EPITAPH_MEMORY=256M
for how in sleeps computes unregistered foreign vfork; do
	for events in off auto; do
		crash 134 env EPITAPH_SCHED=$events ./intervals $how
		mv stdout truth
		"$EPITAPH" replay --format=tsv core >tsv 2>err || [ $? -eq 1 ] || fail "$how, $events: replay: $(cat err)"
		python3 check.py || fail "$how, scheduling events $events"
		[ "$how" != unregistered ] || "$EPITAPH" info core | grep -q '^settings .*, but not after each wait' || fail "$how: $("$EPITAPH" info core | grep settings)"
	done
done

# No record is lost where a handler fills a block to its end between two instructions of a hook.
cat >storm.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define KEPT __attribute__((noinline))
static volatile long sink;
KEPT static void in_handler(long i) { sink += i; }
KEPT static void tiny(long i) { sink += i; }
KEPT static void handler(int number)
{
	for (int i = 0; i < 15; i++) /* 32 records */
		in_handler(number);
}
int main(void)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec times = {{0, 50000}, {0, 50000}};
	timer_t timer;

	sigaction(SIGALRM, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &times, NULL);
	for (long i = 0; i < 8000000; i++)
		tiny(i);
	timer_settime(timer, 0, &(struct itimerspec){0}, NULL);
	abort();
}
C
"$BIN/epitaph-cc" -O1 storm.c -o storm
EPITAPH_RING=256M EPITAPH_MEMORY=512M EPITAPH_TIMESTAMP_EVERY=64 EPITAPH_SCHED=off crash 134 ./storm
"$BUILD/bin/epitaph" stats --json core >stats.json || [ $? -eq 1 ]
python3 -c 'import json; calls = {r["function"]: r["calls"] for r in json.load(open("stats.json"))["functions"]}; assert calls["tiny"] == 8000000, calls' || fail "records are lost"
rm core

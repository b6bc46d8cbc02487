#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that calls nothing has no records: what is known of the time from its last one to its end is told with its source, and
# the ages on the page count back from there.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/tui.bash"

cat >silent.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int *nobody;
static volatile int sink;
__attribute__((noinline)) static void leaf(void) { sink++; }
__attribute__((noinline)) static void wait_and_die(const char *how)
{
	leaf();
	usleep(300000);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "snapshot"))
		kill(getpid(), SIGTRAP);
	*nobody = sink;
}
int main(int count, char **words) { wait_and_die(count > 1 ? words[1] : ""); return sink; }
END
"$BIN/epitaph-cc" -g -O1 silent.c -o silent

# silence FILE SOURCES: its bounds in ms are then $least and $most, "-" unknown; $age of the call that waited
silence() {
	gives 0 "$EPITAPH" report --json "$1"
	read -r least most age source < <(python3 -c '
import json
r = json.load(open("out"))
s = r["end"].get("silence", {})
ms = lambda ns: "-" if ns is None else ns // 10**6
age = next(x["called"]["ago_ns"] for x in r["threads"][0]["stack"]["rows"] if x["function"] == "wait_and_die")
print(ms(s.get("at_least_ns")), ms(s.get("at_most_ns")), ms(age), s.get("source"))')
	[[ $2 == *$source* ]] || say "$1: silence by $source, not $2"
	gives 0 "$EPITAPH" report "$1"
}

# moment KNOWN FILE: of the death, in JSON; a process that goes on has none. On the page `died` counts from the start to it.
moment() {
	"$EPITAPH" report --json "$2" >json
	python3 -c '
import json, sys
r = json.load(open("json"))
m, s = r["end"].get("moment"), r["end"].get("silence", {})
if r["end"]["kind"] == "alive":
    sys.exit(m is not None)
last, lived = r["process"]["last_record_realtime_ns"], r["process"]["lived_ns"]
assert m["known"] == sys.argv[1], m
early, late = m["earliest_realtime_ns"], m["latest_realtime_ns"]
assert abs(early - last - s.get("at_least_ns", 0)) <= 1000, (early, last)
assert (late is None) == (m["known"] == "unknown"), m
assert late is None or abs(late - last - s["at_most_ns"]) <= 1000, (late, last)
assert abs(lived - (early - r["process"]["started_realtime_ns"])) < 10**7' "$1" || say "$2: the moment is not $1"
}

# The snapshot of the death has its clock; so has one of a process that goes on; the core of the same death has not.
crash core.dead env EPITAPH_SCHED=off EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=shot.%n "$PWD/silent" snapshot
for shot in crash.dir/shot.1 crash.dir/shot.2; do
	[ -f $shot ] || { say "no $shot"; continue; }
	silence $shot snapshot
	[ "$least" = "$most" ] && [ "$least" -ge 300 ] && [ "$age" -ge 300 ] || say "$shot: $least to $most ms, called $age ms before"
	has out 'silence    no record in the last '
	has out ", by the snapshot's clock"
	grep -qE '^thread [0-9]+ silent.*: last record [0-9.]+ (ms|s) before the end' out || say "$shot: $(grep ^thread out)"
	moment exact $shot
	hasnt out ' at least '
done
# All that counts from the end counts from that one: of the last 100 ms there is no call but those that were open, and leaf
# returned more than 300 ms before.
counts_from_end() { # FILE
	local options
	for options in --last=100ms --since=-100ms; do
		gives 0 "$EPITAPH" replay $options "$1"
		has out 'wait_and_die() {'
		hasnt out 'leaf('
		gives 0 "$EPITAPH" stats $options --csv "$1"
		has out '"wait_and_die",'
		hasnt out '"leaf",'
		gives 0 "$EPITAPH" export -f collapsed $options "$1"
		has out 'wait_and_die'
		hasnt out 'leaf'
	done
	gives 0 "$EPITAPH" replay --until=-100ms "$1"
	grep -qE '^ +-(0\.[3-9]|[1-9])[0-9.]+ .* leaf\(\);' out || say "$1: leaf by replay: $(grep leaf out)"
	gives 0 "$EPITAPH" info "$1"
	has out 'silence    no record in the last '
	grep -qE ' -([3-9][0-9]{2}\.[0-9]+ ms|[0-9]+\.[0-9]+ s)( |$)' out || say "$1: the last event by info: $(cat out)"
}
counts_from_end crash.dir/shot.1

# Where times count back from what may not be the end, views say so in their first lines: PATTERN empty, they do not.
views_say() { # PATTERN FILE END: by how much later the tsv says that it was: 1 0.3 s or more, unknown, nothing
	local head
	for options in '' --merged; do
		gives 0 "$EPITAPH" replay $options "$2"
		head=$(head -1 out)
		if [ -n "$1" ]; then
			[[ $head =~ times\ count\ back\ from\ $1$ ]] || say "replay $options $2: $head"
		else
			hasnt out 'times count'
		fi
	done
	gives 0 "$EPITAPH" replay --format=tsv "$2"
	got=$(sed -nE '2s/^# end\t([0-9]+)\t\1\t(-|[0-9]+)(\t-){9}$/\1 \2/p' out | awk '$2 != $1 { print ($2 == "-" ? "unknown" : ($2 - $1 >= 3e8)) }')
	[ "$got" = "$3" ] || say "replay --format=tsv $2: $(head -n 2 out)"
	terminal 150 12 "$EPITAPH" tui "$2"
	sees 'silent'
	for screen in 1 3 5; do
		presses $screen
		if [ -n "$1" ]; then row 1 "to $1"; else sees_not 'earliest'; fi
	done
	presses 6 # the report, which says it in its own words
	sees 'program  '
	sees_not 'earliest'
	presses Q
	ends 0
}
views_say '' crash.dir/shot.1 ''

# The bound is the file's time; ages do not count from it.
silence core.dead core-file
[ "$least" = - ] && [ "$most" -ge 300 ] && [ "$age" -lt 300 ] || say "core: $least to $most ms, called $age ms before"
has out ' at most, by the time of the core file'
grep -qE '^thread [0-9]+ silent.*: last record up to [0-9.]+ (ms|s) before the end' out || say "core: $(grep ^thread out)"
grep -qE '^  #[0-9]+ +wait_and_die.*called at least [0-9.]+ [a-z]+ before the end' out || say "core: $(grep wait_and_die out)"
grep -qE '^died       [0-9.]+ [a-z]+ to ([3-9][0-9]{2}\.[0-9]+ ms|[0-9.]+ s) after its start$' out || say "core: $(grep ^died out)"
moment bounded core.dead
views_say 'the earliest end, up to ([3-9][0-9]{2}\.[0-9]+ ms|[0-9.]+ s) before the real one' core.dead 1
# A file that claims to be older than the last record bounds nothing.
touch -d 2001-01-01 core.dead
gives 0 "$EPITAPH" report core.dead
hasnt out 'silence '
hasnt out ' 0 ns before the end'
grep -qE '^thread [0-9]+ silent.*: last record before the end \(how long is not known\)' out || say "old core: $(grep ^thread out)"
moment unknown core.dead
views_say 'the earliest end, the real one may be later' core.dead unknown

# Scheduling events, where they are to be had, prove that it lived.
crash core.dead env EPITAPH_SCHED=auto "$PWD/silent"
silence core.dead 'scheduling core-file'
[ "$least" = - ] || [ "$age" -ge "$least" ] || say "with events: called $age ms before, and silent for $least"
[ "$most" -ge 300 ] || say "with events: $most ms at most"
# These go on after the last record, and have no negative age.
gives 0 "$EPITAPH" info core.dead
if [ "$least" != - ]; then
	grep -qE '^scheduling .*, up to ([0-9.]+ (ms|us|ns) before )?the end$' out || say "events: $(grep ^scheduling out)"
	[ "$least" -lt 300 ] || counts_from_end core.dead
fi

# Nobody but run saw when it was killed.
EPITAPH_SCHED=off "$EPITAPH" run -- ./silent kill >said 2>page || true
has page 'silence    no record in the last '
has page ', by the clock when run saw its end'
exit $((failures != 0))

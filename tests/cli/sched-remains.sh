#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What was still in the kernel at the crash is in reports and snapshots that are made on the same host: twice, as reading takes
# nothing away (Linux 6.10); and in the snapshot after the instance is gone.
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
need_tracefs

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/waits.c" -o waits
waited() { # FILE: of the last nap, as replay tells it; whether the kernel told when it was on a CPU again is nobody's choice
	"$EPITAPH" replay "$1" >tree || [ $? -eq 1 ]
	sed -n 's/.* waits_nap();  waited //p' tree | tail -n 1
}
newer() { [ "$(printf '%s\n' 6.10 "$(uname -r)" | sort -V | head -n 1)" = 6.10 ]; }

# The last nap ends just before the crash. Any traced process that makes an instance removes those of the dead, whoever's it
# is: one with an open file stays.
die() {
	rm -f core core.* small.core
	(ulimit -c unlimited && EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=ftrace exec ./waits settle settle settle ping100 nap nap abort) >stdout 2>stderr &
	pid=$!
	soon has_instance $pid || fail "no instance"
	exec 9<"$(echo $tracing/instances/epitaph.$pid.*)/tracing_on"
	wait $pid 2>/dev/null || [ $? -eq 134 ] || fail "it ended with another status: $(cat stderr)"
	[ -f core ] || mv core.* core
}
gone() { ! has_instance "$pid"; }
look() {
	first=$(waited core)
	awk '{ ms = $1 * ($2 ~ /^s/ ? 1000 : 1) } END { exit !(ms >= 39.9) }' <<<"${first#at least }" || fail "the last nap waited '$first'"
	if newer; then
		[ "$(waited core)" = "$first" ] || fail "the second time it waited '$(waited core)'"
	fi
	"$EPITAPH" extract core -o small.core >/dev/null || [ $? -eq 1 ]
	exec 9<&-
	EPITAPH_SCHED=ftrace ./waits nap >/dev/null
	soon gone || fail "the instance is still there"
	[ "$(waited small.core)" = "$first" ] || fail "in the snapshot it waited '$(waited small.core)', not $first"
}
# Without the instance the core itself does not know, unless the drain, which looks every 10 ms at most, came between the nap's
# end and the crash: a matter of 50 us, so not three times.
for _ in 1 2 3; do
	die
	look
	[ "$(waited core)" = "$first" ] || exit 0
done
fail "the core knows what only the kernel did"

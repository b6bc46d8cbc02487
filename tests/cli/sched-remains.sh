#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What was still in the kernel at the crash is in reports and snapshots that are made on the same host: twice, as reading takes
# nothing away (Linux 6.10); and in the snapshot after the instance is gone.
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
need_tracefs

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/waits.c" -o waits
waited() { # FILE: of the last nap, ns; nothing when that is not known whole
	"$EPITAPH" replay --format=tsv "$1" >tsv || [ $? -eq 1 ]
	awk -F'\t' '$1 == "E" && $8 == "waits_nap" { w = $13 } END { if (w != "-") print w }' tsv
}
newer() { [ "$(printf '%s\n' 6.10 "$(uname -r)" | sort -V | head -n 1)" = 6.10 ]; }

# The last nap ends just before the crash. Any traced process that makes an instance removes those of the dead, whoever's it
# is: one with an open file stays.
for _ in $(seq 40); do # until the kernel dropped no switch (sched-waits.sh)
	rm -f core core.*
	(ulimit -c unlimited && EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=ftrace exec ./waits settle settle settle ping100 nap nap abort) >stdout 2>stderr &
	pid=$!
	soon has_instance $pid || fail "no instance"
	exec 9<"$(echo $tracing/instances/epitaph.$pid.*)/tracing_on"
	wait $pid 2>/dev/null || [ $? -eq 134 ] || fail "it ended with another status: $(cat stderr)"
	[ -f core ] || mv core.* core
	first=$(waited core)
	[ -z "$first" ] || break
	exec 9<&-
done
[ "${first:-0}" -ge 39900000 ] || fail "the last nap waited '$first'"
if newer; then
	[ "$(waited core)" = "$first" ] || fail "the second time it waited '$(waited core)'"
fi
"$EPITAPH" extract core -o small.core >/dev/null || [ $? -eq 1 ]
exec 9<&-
EPITAPH_SCHED=ftrace ./waits nap >/dev/null
gone() { ! has_instance "$pid"; }
soon gone || fail "the instance is still there"
[ "$(waited small.core)" = "$first" ] || fail "in the snapshot it waited '$(waited small.core)', not $first"
# Without the instance the core itself does not know.
[ "$(waited core)" != "$first" ] || fail "the core knows what only the kernel did"

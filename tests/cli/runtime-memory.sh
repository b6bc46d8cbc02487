#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Memory goes where history is: with the default memory 10,000 threads that came and went each keep theirs, and so they do
# in a snapshot; a program of few calls needs at most a MiB more than its untraced twin.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

gcc -O1 -pthread "$TOP/tests/programs/histories.c" -o plain
"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/histories.c" -o traced

# Pages of libraries that are mapped around a fault come and go: the smallest of some.
smallest() {
	for _ in 1 2 3 4 5; do "$1"; done | sort -n | head -1
}
plain=$(smallest ./plain) traced=$(smallest ./traced)
[ "$traced" -gt "$plain" ] || fail "$plain and $traced KiB: that cannot be"
[ "$((traced - plain))" -le 1024 ] || fail "$traced KiB in memory, untraced $plain"

whole() { # FILE
	[ "$(info 'sum(info["lost"].values())' "$1")" = 0 ] || fail "$1: lost: $(info 'info["lost"]' "$1")"
	[ "$(info 'sum(t["whole"] and t["blocks"] == 1 for t in info["threads"])' "$1")" = 10001 ] ||
		fail "$1: $(info 'sum(t["whole"] for t in info["threads"])' "$1") whole histories"
	"$EPITAPH" stats --csv -F work "$1" >csv 2>log || { cat log; fail "$1: stats"; }
	# By main and by each thread.
	[ "$(tail -n 1 csv | cut -d, -f 4)" = 100010 ] || { cat csv; fail "$1: calls are missing"; }
}

crash 134 ./traced 10000
whole core
"$EPITAPH" extract -q core -o extract.core
whole extract.core

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A dozen threads that wait in their own ways and measure for how long: what each function is said to have waited is right,
# or not given to it and marked where one call in 64 has a time of its own; nothing is marked where the kernel asks for a
# time after each wait.
# sanitized only
# alone
# quiet
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
need_scheduling

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/waiting.c" -o waiting
tell() { # OUTPUT COMMAND...: a status of 1 is partial, and good
	"${@:2}" >"$1" || [ $? -eq 1 ]
}
check() { # WHAT: one run, and what it says
	mkdir "$1"
	mv core stdout "$1/"
	tell "$1/stats.json" "$EPITAPH" stats --json "$1/core"
	tell "$1/waits.json" "$EPITAPH" stats --waits --json "$1/core"
	tell "$1/collapsed" "$EPITAPH" export -f collapsed "$1/core" -o -
	python3 "$TOP/tests/cli/lib/waiting.py" "$1"
}

unasked=GLIBC_TUNABLES=glibc.pthread.rseq=0
if has_source ftrace; then
	EPITAPH_TIMESTAMP_EVERY=64 EPITAPH_SCHED=ftrace crash 134 env $unasked ./waiting 80
	check ftrace-64
fi
EPITAPH_TIMESTAMP_EVERY=64 EPITAPH_SCHED=${sources[0]} crash 134 ./waiting 80
check "${sources[0]}-asked"
EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=${sources[0]} crash 134 ./waiting 80
check "${sources[0]}-1"

# An ordinary user's.
if has_source perf; then
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	chmod 777 "$folder"
	cp waiting "$folder/"
	(cd "$folder" && EPITAPH_TIMESTAMP_EVERY=64 EPITAPH_SCHED=perf crash 134 "${nobody[@]}" env $unasked ./waiting 80)
	mv "$folder"/{core,stdout} .
	check perf-64
fi

# The other outputs mark what they draw by a guess.
marked=${sources[0]}-64/core
for format in chrome viztracer speedscope; do
	tell out "$EPITAPH" export -f $format "$marked" -o -
	grep -q 'waited somewhere inside' out || fail "$format has no mark"
done
tell out "$EPITAPH" export -f jsonl "$marked" -o -
grep -q '"unsure-wait"' out || fail "jsonl has no mark"
tell out "$EPITAPH" replay --format=tsv "$marked"
grep -q 'unsure-wait' out || fail "tsv has no mark"
tell out "$EPITAPH" stats --waits "$marked"
grep -q 'somewhere inside alternates' out || fail "waits: $(cat out)"
tell out "$EPITAPH" stats "$marked"
grep -qE ' inside +function$' out || fail "stats: $(cat out)"
EPITAPH_SCHED=${sources[0]} ./waiting 1 >/dev/null 2>&1 || true # removes instances of those that crashed
rm -f core*

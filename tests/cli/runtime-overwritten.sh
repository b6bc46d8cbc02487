#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program may write over the runtime's memory: its crash handler tests all that is anonymous, as redis's does, or it is
# mistaken, and goes on. It never dies of that, says and does what it does untraced, and info, report and their exit status say
# that tracing ended there.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

# The kernel writes to memory that glibc registers with it (rseq), also untraced: whoever overwrites that may die of it.
export GLIBC_TUNABLES=glibc.pthread.rseq=0

program=$TOP/tests/programs/overwritten.c
gcc -O1 -g "-I$TOP" "$program" -o plain -lpthread
"$BIN/epitaph-cc" -O1 -g "-I$TOP" "$program" -o dynamic -lpthread
"$BIN/epitaph-cc" -O1 -g "-I$TOP" "$program" -o static -static -lpthread
"$BIN/epitaph-cc" -O1 -g "-I$TOP" "$program" -o shared -epitaph-runtime=shared -lpthread

# alike PROGRAM ARGUMENTS...: leaves the core of the traced one
alike() {
	local traced=$1
	shift
	crash 139 ./plain "$@" 2>/dev/null
	mv stdout said
	crash 139 "./$traced" "$@" 2>/dev/null
	cmp -s stdout said || fail "$traced $*: $(cat stdout)"
	[ ! -s stderr ] || fail "$traced $*: $(cat stderr)"
}

overwritten() { # WORDS: of report
	local status=0 words
	"$EPITAPH" info core >out 2>err || status=$?
	[ $status -eq 1 ] || fail "info ends with $status"
	status=0
	"$EPITAPH" report --all core >out 2>>err || status=$?
	[ $status -eq 1 ] || fail "report ends with $status"
	for words in 'the program wrote over the memory that holds the trace: tracing ended there' "$@"; do
		grep -qF -- "$words" out || { cat out; fail "the report has no $words"; }
	done
	[ "$(grep -c 'wrote over' err)" = 1 ] || fail "info says $(cat err)"
}

# The calls before the fault are there, whether many records have a time of their own or few.
for traced in dynamic static shared; do
	for how in '' alt words; do
		EPITAPH_TIMESTAMP_EVERY=64 alike $traced tested $how
		overwritten 'last_words() { /* did not return */' '#4    last_words'
	done
done
EPITAPH_SCHED=off alike dynamic tested
# A snapshot is written first, of the fault; the handler, which keeps 1 MiB on its stack, has the stack that is its own.
for traced in dynamic static shared; do
	for how in '' alt; do
		rm -f shot
		EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=shot alike $traced tested $how
		overwritten 'last_words() { /* did not return */' '#4    last_words'
		"$EPITAPH" report --all shot >out 2>err || fail "report of $traced's snapshot ends with $?: $(cat err)"
		grep -qF 'address 0x8' out && grep -qF '#0    last_words' out || { cat out; fail "the snapshot of $traced $how"; }
	done
done
EPITAPH_MIN_DURATION=1us alike dynamic tested

# Without a signal, each hook that looks at the clock sees it.
EPITAPH_TIMESTAMP_EVERY=1 alike dynamic tested cold
overwritten

# For good: what is gone is gone, and the program goes on.
for part in first threads; do
	for value in zeroes ones; do
		alike dynamic $part $value
		overwritten '#0    last_words'
	done
done
for part in all process clock modules rings kept sched watchdogs; do
	alike dynamic $part ones
	alike dynamic $part
done

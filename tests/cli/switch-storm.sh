#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Functions are switched off and on at random by the program, and everything from outside, while seven threads run them with
# exceptions, longjmp, signals, fork and dlclose: every result is right, no file is written to that takes the number of a
# descriptor of ours, and afterwards all is on and recorded.
# sanitized only
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export EPITAPH_MEMORY=8M EPITAPH_SCHED=off EPITAPH_BUDGET=none

storm() { # COMPILER FLAGS...
	local status=0 pid
	EPITAPH_CC=$1 "$BIN/epitaph-cc" -O2 -shared -fPIC -DWORK "${@:2}" "$TOP/tests/programs/switcher.c" -o libwork.so
	if [ "$1" = gcc ]; then EPITAPH_CXX=g++; else EPITAPH_CXX=clang++; fi
	EPITAPH_CXX=$EPITAPH_CXX "$BIN/epitaph-c++" -g -O1 -w "${@:2}" "$TOP/tests/programs/flipstorm.cc" -o storm -lpthread
	head -c 10000 /dev/zero >victim
	rm -f core* go
	mkfifo go
	./storm 1500 ./libwork.so victim <go >out 2>&1 &
	pid=$!
	exec 7>go
	while kill -0 $pid 2>/dev/null && ! grep -q wrong out; do
		"$BIN/epitaph" control $pid off >/dev/null 2>&1 || true
		"$BIN/epitaph" control $pid on >/dev/null 2>&1 || true
		sleep 0.05
	done
	"$BIN/epitaph" control $pid on >/dev/null || say "$*: everything on: status $?"
	echo >&7
	exec 7>&-
	wait $pid || status=$?
	[ $status = 134 ] || say "$*: it ended with $status"
	has out "0 wrong"
	cmp -s victim <(head -c 10000 /dev/zero) || say "$*: a file of the program's was written to"
	[ -e core ] || mv core.* core
	# The last call of all, storm_all(6), is told as it was.
	"$EPITAPH" replay --format=tsv core >tsv || [ $? -eq 1 ]
	awk -F'\t' '$1 ~ /^[BE]$/ && $6 == "storm" && $8 ~ /^storm_/ { if ($1 == "B" && $8 == "storm_all") n = 0; line[n++] = $1 " " $8 }
		END { for (i = 0; i < n; i++) print line[i] }' tsv >last
	has last "E storm_all"
	[ "$(grep -c 'B storm_deep' last)" = 7 ] || { say "$*: the last call's tree"; cat last; }
	[ "$(grep -c 'E storm_deep' last)" = 7 ] || say "$*: returns of the last call's tree"
}

storm gcc
storm clang
[ $failures = 0 ]

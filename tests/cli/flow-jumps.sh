#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Exceptions and longjmp among functions that recurse: which level caught, what was left and when, under every method, both
# compilers and all kinds of program, compared with the program's own log event by event.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

try() { # ENDS FLAGS...
	local ends=$1 status=0
	shift
	"$BIN/epitaph-c++" "$@" "$TOP/tests/programs/jumps.cc" -o jumps -lpthread
	rm -f truth
	crash core "$PWD/jumps"
	mv crash.dir/truth .
	"$EPITAPH" replay --format=tsv core >tsv || status=$?
	[ $status -eq 0 ] || say "$*: replay: status $status"
	python3 "$TOP/tests/cli/lib/jumps.py" "$ends" 2>why || say "$*: $(tail -n 1 why)"
}

for level in -O0 -O2; do
	try told $level
	try any $level -epitaph-method=finstrument
	for method in finstrument after-inlining; do
		EPITAPH_CXX=clang++ try told $level -epitaph-method=$method
	done
done
try told -O2 -static
try told -O2 -static-pie
try told -O2 -static-libgcc -static-libstdc++
try told -O2 -flto
try told -Os -no-pie
try told -O1 -epitaph-runtime=shared
EPITAPH_CXX=clang++ try told -O2 -static
EPITAPH_TIMESTAMP_EVERY=8 try told -O3
EPITAPH_TIMESTAMP_EVERY=64 try told -O2

[ $failures -eq 0 ]

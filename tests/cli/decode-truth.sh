#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that keeps its own log of what it did, with exceptions, recursion and thunks in several threads: what is decoded
# from its core is that log, call by call and in order; of a ring that was overwritten, the log's end.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

check() { # RETURNS WHOLE: of "core"
	local status=0
	"$EPITAPH" replay --format=tsv core >tsv || status=$?
	python3 "$TOP/tests/cli/lib/truth.py" "$1" "$2"
}

for method in pg finstrument; do
	"$BIN/epitaph-c++" "-epitaph-method=$method" -O2 "$TOP/tests/programs/truth.cc" -o "truth-$method" -lpthread
	unwinding=$([ "$method" = pg ] && echo leaves || echo returns)
	for every in 1 8 auto; do
		export EPITAPH_TIMESTAMP_EVERY=$every
		crash 134 "./truth-$method"
		check "$unwinding" whole
		EPITAPH_RING=64K crash 134 "./truth-$method"
		check "$unwinding" cut
	done
done

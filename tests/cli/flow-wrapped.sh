#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Rings that were written over 1,000 times before the crash: the calls that lie outside of the history come from the unwinder
# and are said to be out of the trace's reach; the oldest call known is never shown as the outermost.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

stack() { sed -n '/^thread .* died:/,/last calls/p' out; }
try() { # WORDS FLAGS...
	local words=$1 argument stripped
	shift
	"$BIN/epitaph-cc" -g "$@" "$TOP/tests/programs/wrapped.c" -o wrapped -pthread
	strip -o stripped wrapped
	for argument in '' thread; do
		for stripped in wrapped stripped; do
			EPITAPH_RING=16K crash core "$PWD/$stripped" $argument
			gives 0 "$EPITAPH" info --json core
			python3 -c 'import json
t = max(json.load(open("out"))["threads"], key=lambda t: t["blocks_entered"])
assert t["blocks"] in (3, 4) and t["blocks_entered"] >= 4000 and not t["whole"], t' || say "$words: not wrapped 1,000 times"
			gives 0 "$EPITAPH" report core
			stack >died
			has died "older is overwritten"
			has died "-- the trace does not reach back to the calls below --"
			# Above that line what the trace knows, below it what only the stack does.
			awk '/^ +-- the trace/ { below = 1; next } /^ +#/ { if (below && /\[called/) bad = 1; if (!below && /\[called/) known++ }
				END { exit bad || known != 2 }' died || { say "$words $argument $stripped"; cat died; }
			if [ $stripped = wrapped ]; then
				awk '/^ +-- the trace/ { below = 1 } below && /flow_(serve|run)/ { n++ } END { exit n != 2 }' died || { say "$words: outer calls"; cat died; }
			fi
			gives 0 "$EPITAPH" replay --last=3 core
			has out "what came before was overwritten"
			hasnt out flow_serve
			hasnt out flow_run
		done
	done
}

try "frames without pointers" -O1
try "frame pointers" -O0 -fno-omit-frame-pointer
try "before inlining" -O1 -epitaph-method=finstrument
EPITAPH_CC=clang try "clang" -O1
[ $failures -eq 0 ]

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# 100,000 signals into threads that do nothing but call, the handlers traced:
# not one block is torn or missing, and few records are lost.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O2 "$TOP/tests/programs/storm.c" -o storm
for every in 1 8 auto; do
	export EPITAPH_TIMESTAMP_EVERY=$every EPITAPH_RING=4M
	crash 134 ./storm
	unset EPITAPH_TIMESTAMP_EVERY EPITAPH_RING
	torn=$(info 'info["lost"]["blocks_torn"]')
	backward=$(info 'info["lost"]["blocks_backward"] + info["lost"]["blocks_duplicate"]')
	holes=$(info 'info["lost"]["holes"]')
	[ "$torn" -eq 0 ] || fail "every $every: $torn blocks torn"
	[ "$backward" -eq 0 ] || fail "every $every: $backward blocks out of order"
	[ "$holes" -le 500 ] || fail "every $every: $holes records lost"
	# Of about 600,000 events, those that do not nest.
	"$EPITAPH" replay --format=tsv core >tsv || [ $? -eq 1 ]
	events=$(grep -vc '^#' tsv)
	bad=$(grep -cE '^S|abandoned|ambiguous' tsv || true)
	[ "$events" -gt 400000 ] || fail "every $every: only $events events"
	[ "$bad" -le 1000 ] || fail "every $every: $bad of $events do not nest"
	lost=$(grep -c 'lost-blocks' tsv || true)
	[ "$lost" -eq 0 ] || fail "every $every: $lost gaps in the blocks"
done

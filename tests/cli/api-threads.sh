#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What threads ask for themselves holds: hidden calls are not in the trace, shown
# ones are, as often as they were made; a ring of its own keeps what the usual
# one would have lost, and timing of its own shows in each block.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/selfish.c" -o selfish
EPITAPH_RING=16K crash 134 ./selfish child.core

"$EPITAPH" replay --format=tsv core | grep -v '^#' >events
grep -q '	hidden	' events && fail "a paused or ignored thread was recorded"
calls() { # THREAD FUNCTION: calls in the trace
	awk -F'\t' -v t="$1" -v f="$2" '$1 == "B" && $6 == t && $8 == f { n++ } END { print n + 0 }' events
}
[ "$(calls large shown_in_large_ring)" = 20001 ] || fail "large: $(calls large shown_in_large_ring) calls"
# early, on_signal, paused_by_handler, main
[ "$(calls selfish shown)" = 4 ] || fail "selfish: $(calls selfish shown) calls"
[ "$(calls ignored-later shown)" = 1 ] || fail "what was recorded before ignore_thread is gone"
# The pauses of the main thread that came between two records of it.
"$EPITAPH" replay --thread selfish core >tree
[ "$(grep -c 'paused' tree)" -ge 2 ] || { cat tree; fail "pauses are not shown as gaps"; }

[ "$(info 'threads["ignored"]["state"]')" = ended ]
[ "$(info 'threads["ignored"]["blocks"]')" = 0 ]
[ "$(info 'threads["large"]["whole"]')" = True ]
[ "$(info 'set(threads["timed-1"]["every"])')" = "{1}" ]
[ "$(info 'set(threads["timed-8"]["every"])')" = "{8}" ]
[ "$(info 'sum(info["lost"].values())')" = 0 ] || fail "$(info 'info["lost"]')"

# The child of a paused thread.
"$EPITAPH" replay --format=tsv child.core | grep -v '^#' >events
[ "$(cut -f 8 events | sort -u)" = shown_in_child ] || { cat events; fail "the child"; }

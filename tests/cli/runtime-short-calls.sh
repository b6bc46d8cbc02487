#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# EPITAPH_MIN_DURATION keeps what took long, all that was open, and nothing else.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O1 "$TOP/tests/programs/shortcalls.c" -o shortcalls
# Longer than a loaded machine keeps a thread waiting; where a short call was kept waiting so long all the same, once more.
for _ in 1 2 3 4 5; do
	rm -f core
	EPITAPH_MIN_DURATION=50ms crash 134 ./shortcalls
	"$EPITAPH" replay --format=tsv core | grep -v '^#' | cut -f 1,7,8 >printed
	grep -q quick_around_quick printed || break
done
cat printed

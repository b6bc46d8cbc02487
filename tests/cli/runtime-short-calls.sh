#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# EPITAPH_MIN_DURATION keeps what took long, all that was open, and nothing else.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O1 "$TOP/tests/programs/shortcalls.c" -o shortcalls
export EPITAPH_MIN_DURATION=1ms
crash 134 ./shortcalls
unset EPITAPH_MIN_DURATION
"$EPITAPH" replay --format=tsv core | grep -v '^#' | cut -f 1,7,8

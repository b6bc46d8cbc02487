#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Pauses nest; EPITAPH=off starts paused, and epitaph_resume switches it on. What
# was not recorded is told as a gap.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O1 "$TOP/tests/programs/pauses.c" -o pauses
for start in on off; do
	echo "started $start"
	runtime=$EPITAPH
	unset EPITAPH
	export EPITAPH=$start
	crash 134 ./pauses
	unset EPITAPH
	EPITAPH=$runtime
	"$EPITAPH" replay --format=tsv core | grep -v '^#' | cut -f 1,8
done

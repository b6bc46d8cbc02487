#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Functions go off and come back while four threads call by chance, longjmp among it: what is read is what the program's own logs
# say (lib/switched_truth.py).
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=off EPITAPH_BUDGET=none EPITAPH_RING=4M
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/switched_truth.c" -o prog -lpthread || say "it does not build"
# Two runs in which enough was switched: on a busy machine the threads may be over before.
full=0
for seed in 1 2 3 4 5 6; do
	crash core "$PWD/prog" $seed
	mv crash.dir/truth crash.dir/switches .
	"$EPITAPH" replay --format=tsv core >tsv || say "replay ends with $?"
	status=0
	python3 "$TOP/tests/cli/lib/switched_truth.py" >said 2>&1 || status=$?
	[ $status = 0 ] || [ $status = 3 ] || { say "seed $seed:"; cat said; }
	full=$((full + (status == 0)))
	[ $full -lt 2 ] || break
done
[ $full = 2 ] || { say "too little was switched in the runs"; cat said; }
[ $failures = 0 ]

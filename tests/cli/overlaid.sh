#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that maps, unmaps, protects or empties what lies where the arena is lives as it does untraced. What it left alone is still
# recorded to; where it took the place itself tracing ends, and the report says why.
# sanitized only
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

gcc -O1 -w "$TOP/tests/programs/overlaid.c" -o plain -pthread
"$BIN/epitaph-cc" -O1 -w "$TOP/tests/programs/overlaid.c" -o traced -pthread
"$BIN/epitaph-cc" -O1 -w -static "$TOP/tests/programs/overlaid.c" -o traced-static -pthread
"$BIN/epitaph-cc" -O1 -w -epitaph-runtime=shared "$TOP/tests/programs/overlaid.c" -o traced-shared -pthread
for how in fixed tail page none unmap drop wipe move dontfork all all-none close; do
	./plain $how >wanted || fail "untraced, $how: $?"
	for program in traced traced-static traced-shared; do
		for snapshot in none snapshot; do
			EPITAPH_ON_CRASH=$snapshot ./$program $how >out || fail "$program, $how, $snapshot: status $?"
			cmp wanted out || fail "$program, $how: $(cat out)"
		done
	done
done
for mode in EPITAPH_MODE=count EPITAPH=off EPITAPH_FILE=file EPITAPH_BUDGET=none; do
	for how in all-none close none fixed; do
		env $mode EPITAPH_OUTPUT=counts ./traced $how >out || fail "$mode, $how: status $?"
		grep -q "^$how: 7" out || fail "$mode, $how: $(cat out)"
	done
done

# What is not the program's to touch goes on.
for how in none unmap drop wipe close; do
	EPITAPH_BUDGET=none crash 139 ./traced $how dies
	"$EPITAPH" stats --csv core >stats || [ $? -eq 1 ]
	awk -F, '$1 == "\"work\"" { exit !($4 > 40000) } END { if (!NR) exit 1 }' stats || fail "$how: calls are missing: $(cat stats)"
done
for how in fixed all; do
	crash 139 ./traced $how dies
	"$EPITAPH" report core >page 2>&1 || [ $? -le 2 ]
	grep -q "the program mapped something of its own where the trace was" page || fail "$how: $(cat page)"
done

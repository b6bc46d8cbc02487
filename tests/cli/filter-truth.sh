#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that keeps its own log (tests/programs/truth.cc), built without the hooks of some functions:
# what is decoded from its cores is its log without those functions, call by call and in order.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

# One variant everywhere, a catcher, virtual functions that are reached through thunks.
echo '_Z1fILi*ELi2EEii _Z1fILi4ELi1EEii # C++
_ZN4bothILi[357]EE2goEi _ZTv0_n24_N4bothILi[357]EE2goEi' >list

check() { # PROGRAM RETURNS
	local status=0
	EPITAPH_TIMESTAMP_EVERY=8 crash 134 "./$1"
	grep -Ev ' (f[0-9]+\.2|f4\.1|go[357]\.0)$' truth >shorter
	[ "$(wc -l <shorter)" -gt 1000 ] && [ "$(wc -l <shorter)" -lt "$(wc -l <truth)" ]
	mv shorter truth
	"$BIN/epitaph" replay --format=tsv core >tsv || status=$?
	python3 "$TOP/tests/cli/lib/truth.py" "$2" whole || { echo "$1"; exit 1; }
}

for method in pg finstrument; do
	unwinding=$([ "$method" = pg ] && echo leaves || echo returns)
	"$BIN/epitaph-c++" "-epitaph-method=$method" -O2 "$TOP/tests/programs/truth.cc" -o filtered -lpthread -epitaph-no-trace=list
	check filtered "$unwinding"
done

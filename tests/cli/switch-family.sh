#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a forked child switches off is off in the children that are forked after it: whoever forks them reads what those before
# have found out. Who never forks, and whose children call little, has its code as it was.
set -euo pipefail
"$BIN/epitaph-cc" -O2 -fcf-protection=none "$TOP/tests/programs/forker.c" -o forker

expect() { # WHAT GOT WANTED
	[[ $2 =~ ^$3$ ]] || { echo "$1: $2" && exit 1; }
}
# Who forks for the third time is a server.
expect "everything off" "$(EPITAPH=off ./forker 100000)" "off after 2"
expect "on again by nobody" "$(EPITAPH=off ./forker 10 | sort -u | sed 's/child .* did/child did/' | sort -u | tr '\n' ' ')" "child did not switch it off never off "
# Two of them must have found it.
expect "by the budget" "$(EPITAPH_BUDGET=5% ./forker 30000000)" "off after [2-9]"
expect "no budget" "$(EPITAPH_BUDGET=none ./forker 100000 | tail -1)" "never off"
# No child lives long enough to find anything by itself: what they all have spent counts together.
expect "short children" "$(EPITAPH_BUDGET=5% ./forker 60000 400 | tail -1)" "off after [0-9]+"
# However much two of them have found: one fork takes it over.
"$BIN/epitaph-c++" -O2 -fcf-protection=none "$TOP/tests/programs/heirs.cc" -o heirs
expect "all at one fork" "$(EPITAPH_BUDGET=5% ./heirs)" "both had [3-5][0-9][0-9] off, the next one lacks 0"

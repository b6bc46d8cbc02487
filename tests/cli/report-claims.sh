#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A few programs made by chance, whose truth is known, against what the report says of their deaths; `make real ONLY=claims` has
# hundreds, in all ways to die.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

ulimit -c unlimited
mkdir work && cd work
claims() { # WAY FIRST LAST: these programs die so
	python3 -B "$TOP/tests/real/claims.py" "$BIN/epitaph" ../log "$2" "$3" "$1" >said 2>&1 || { cat said; fail "$1: a false claim"; }
	grep -qx "$(($3 - $2 + 1)) inputs, 0 wrong statements" said || { cat said; fail "$1: not all of them died"; }
}
claims null-write 1 3
claims abort 4 5

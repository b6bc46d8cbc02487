#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A core of a traced program cut at each 1/200 of its length and at each header, and its snapshot at each 1/40: every reader keeps what
# is left, says so with the file's name, and never crashes, hangs, takes 500 MB or calls nothing a success.
# timeout: 900
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
traced waiters
ulimit -s 256 # a small core: threads take their stacks' size from it
export EPITAPH_RING=64K EPITAPH_MEMORY=2M
crash ./waiters abort core.whole
python3 "$TOP/tests/cli/lib/hostile.py" "$EPITAPH" core.whole cut 200
"$EPITAPH" extract -q -o snapshot.whole core.whole
python3 "$TOP/tests/cli/lib/hostile.py" "$EPITAPH" snapshot.whole cut 40

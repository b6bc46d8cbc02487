#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A core of a traced program cut at each 1/150 of its length and at each header, and its snapshot at each 1/40: every reader keeps what
# is left, says so with the file's name, and never crashes, hangs, takes 500 MB or calls nothing a success.
set -euo pipefail
source "$TOP/tests/cli/lib/hostile.bash"
readers=$(dirname "$EPITAPH")/../tests/readers
small_core
whose=plain
[ "$EPITAPH" = "$BIN/epitaph" ] || whose=sanitized
python3 "$TOP/tests/cli/lib/hostile.py" "$readers" core.whole cut 150 $whose
"$EPITAPH" extract -q -o snapshot.whole core.whole
python3 "$TOP/tests/cli/lib/hostile.py" "$readers" snapshot.whole cut 40 $whose

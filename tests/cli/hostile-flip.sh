#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A core of a traced program with damaged bytes and words, in its headers first of all: every reader keeps what makes sense, says
# so with the file's name, and never crashes, hangs, takes 500 MB or calls nothing a success. The same damage each time.
set -euo pipefail
source "$TOP/tests/cli/lib/hostile.bash"
readers=$(dirname "$EPITAPH")/../tests/readers
small_core
whose=plain
[ "$EPITAPH" = "$BIN/epitaph" ] || whose=sanitized
python3 "$TOP/tests/cli/lib/hostile.py" "$readers" core.whole flip 250 $whose

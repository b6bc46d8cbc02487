#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Cores that were made to cost time or memory: overlaps, loops, absurd sizes and counts in headers, notes, lists of files, link maps
# and stacks; damaged debug information; streams that expand without end. Each command ends soon, in little memory, with a message.
# The figures go to stderr. Goal: 1 s and 200 MB; what fails is far above, as other programs run beside this one.
set -euo pipefail
source "$TOP/tests/cli/lib/hostile.bash"
readers=$(dirname "$EPITAPH")/../tests/readers
small_core
seconds=5 megabytes=200 whose=plain
[ "$EPITAPH" = "$BIN/epitaph" ] || seconds=15 megabytes=1000 whose=sanitized # a sanitizer's own
python3 "$TOP/tests/cli/lib/hostile_made.py" "$readers" core.whole ./waiters $seconds $megabytes $whose

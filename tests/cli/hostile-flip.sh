#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A core of a traced program with damaged bytes and words, in its headers first of all: every reader keeps what makes sense, says
# so with the file's name, and never crashes, hangs, takes 500 MB or calls nothing a success. The same damage each time.
# timeout: 900
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
traced waiters
ulimit -s 256 # a small core: threads take their stacks' size from it
export EPITAPH_RING=64K EPITAPH_MEMORY=2M
crash ./waiters abort core.whole
python3 "$TOP/tests/cli/lib/hostile.py" "$EPITAPH" core.whole flip 250

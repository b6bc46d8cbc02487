#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# With the default memory, 1,000 live threads each keep their last moments, and
# 2,000 more that come and go reuse the rings of the dead.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O2 "$TOP/tests/programs/crowd.c" -o crowd
crash 134 ./crowd
[ "$(info 'info["lost"]["threads_without_ring"]')" -eq 0 ] ||
	fail "threads without a ring: $(info 'info["lost"]')"
[ "$(info 'info["lost"]["blocks_torn"]')" -eq 0 ] || fail "torn blocks"
"$EPITAPH" replay --format=tsv -F wait_for_ever core >tsv || [ $? -eq 1 ]
waiting=$(grep -c 'did-not-return' tsv)
[ "$waiting" -eq 1000 ] || fail "$waiting threads are known to wait"

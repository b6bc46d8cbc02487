#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every mode of clang through epitaph-cc gives what plain clang gives, and hooks. (Its reader is $EPITAPH's neighbour.)
# sanitized only
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/wrapper.bash"
wrapper_modes clang

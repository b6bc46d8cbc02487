#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every mode of gcc through epitaph-cc gives what plain gcc gives, and hooks. (Its reader is $EPITAPH's neighbour.)
# sanitized only
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/wrapper.bash"
wrapper_modes gcc

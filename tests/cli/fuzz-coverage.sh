#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The committed inputs alone reach 85 % of the lines of those that read untrusted bytes.
# timeout: 600
# nothing crashes
set -euo pipefail
# The runtime is never measured, and of the rest only readers are: the other objects are those of `make check`.
mkdir -p cov/obj
cp -a "$BUILD/obj/a" cov/obj/
OBJECTS=$BUILD BUILD=$PWD/cov "$TOP/tests/fuzz/coverage" --corpus-only >table || { cat table; exit 1; }
grep -q '^the corpus reaches' table
# A reader that is not compiled any more, or was renamed, must not drop out unseen.
if grep '^no figure' table; then exit 1; fi

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# With musl the runtime can't work: the wrapper says so and makes nothing.
set -euo pipefail

printf '#!/bin/sh\nexec gcc "$@"\n' >musl-gcc
chmod +x musl-gcc
echo 'int main(void) { return 0; }' >a.c
status=0
EPITAPH_CC=./musl-gcc "$BIN/epitaph-cc" a.c -o a 2>said || status=$?
[ "$status" -ne 0 ] || { echo "it was built"; exit 1; }
[ ! -e a ] || { echo "it made a"; exit 1; }
grep -q 'needs glibc' said || { cat said; exit 1; }
EPITAPH_CC=./musl-gcc "$BIN/epitaph-cc" --version >/dev/null

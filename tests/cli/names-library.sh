#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every function of the distribution's C library, and a place in each: names are c++filt's, lines eu-addr2line's, inlined calls
# llvm-symbolizer's. make real does the same with larger libraries.
set -euo pipefail
library=$(realpath "$(gcc -print-file-name=libc.so.6)")
id=$(readelf -n "$library" | sed -n 's/.*Build ID: //p')
debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
[ -e "$debug" ] || { echo "no debug information of $library (apt: libc6-dbg, of the same version)"; exit 77; }

python3 "$TOP/tests/cli/lib/names.py" "$BIN/../tests/addresses" "$library" "$debug" 1 >out || { cat out; exit 1; }
# What it compared is what there is to compare.
awk '/ functions, / { f = $2 } /name: c/ { n = $1 } /line: eu-addr2line/ && !/function/ { l = $1 } /inlined: llvm/ { i = $1 }
	END { exit !(f > 3000 && n > 3000 && l > 6000 && i > 300) }' out || { echo "too little was compared:"; cat out; exit 1; }

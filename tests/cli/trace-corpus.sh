#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every arena that the fuzzer was given or made trouble with, and changed copies of each, once more under the sanitizers.
set -euo pipefail

gcc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
	"$TOP/tests/fuzz/fuzz_trace.c" "$TOP/tests/fuzz/replay.c" "$TOP/tests/unit/build_arena.c" \
	"$TOP/tests/unit/build_trace.c" "$BUILD/sanitized/lib/libepitaph-tools.a" \
	-ldw -lelf -liberty -lz -lpthread -o replay

files=("$TOP"/tests/fuzz/corpus/trace/*)
[ ${#files[@]} -ge 3 ]
./replay -m 500 "${files[@]}" 2>last || { tail -n 1 last; exit 1; }

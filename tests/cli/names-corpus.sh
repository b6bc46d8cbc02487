#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every ELF file that the fuzzer was given or made trouble with, once more under the sanitizers; and each of them cut short.
set -euo pipefail

gcc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
	"$TOP/tests/fuzz/fuzz_elf.c" "$TOP/tests/fuzz/replay.c" "$BUILD/sanitized/lib/libepitaph-tools.a" \
	-ldw -lelf -liberty -lz -lpthread -o replay

files=("$TOP"/tests/fuzz/corpus/elf/*)
[ ${#files[@]} -ge 3 ]
./replay "${files[@]}" 2>last || { tail -n 1 last; exit 1; }

for file in "${files[@]}"; do
	for size in 4 16 63 64 100 1000 2000 3000 4000 5000; do
		head -c "$size" "$file" >"cut-$size-${file##*/}"
	done
done
./replay cut-* 2>last || { tail -n 1 last; exit 1; }

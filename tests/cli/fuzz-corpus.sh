#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every input that a fuzzer was given or made trouble with, once more under the sanitizers, and changed copies of each.
set -euo pipefail

# Changed copies of each input: as many as a few seconds allow.
declare -A changes=([core]=40 [spool]=40 [trace]=200 [elf]=300 [texts]=300 [response]=300)

for corpus in "$TOP"/tests/fuzz/corpus/*/; do
	name=$(basename "$corpus")
	target=$BUILD/sanitized/fuzz/$name
	[ -x "$target" ] || { echo "there are inputs for $name, but no such target"; exit 1; }
	"$target" -m "${changes[$name]:-20}" "$corpus" >said 2>last || {
		tail -n 20 last
		echo "$name: the input is in replay.last"
		exit 1
	}
	files=$(find "$corpus" -type f | wc -l)
	read -r count _ <said
	# Each file once, and its copies.
	[ "$count" -eq $((files * (1 + ${changes[$name]:-20}))) ] || { echo "$name: $count inputs of $files files"; exit 1; }
done
# gdb's readers are Python, and judged without gdb.
python3 "$TOP/tests/fuzz/gdb_readers.py" "$BUILD/gdb-ext" 10 1 "$TOP"/tests/fuzz/corpus/core/* >said 2>last ||
	{ tail -n 20 last; echo "gdb_readers.py: the input is in gdb.last"; exit 1; }
for target in "$TOP"/tests/fuzz/fuzz_*.c; do
	name=${target##*/fuzz_}
	[ -d "$TOP/tests/fuzz/corpus/${name%.c}" ] || { echo "no inputs for $name"; exit 1; }
done
size=$(cat "$TOP"/tests/fuzz/corpus/*/* | wc -c)
[ "$size" -lt 1500000 ] || { echo "the corpus has grown to $size bytes"; exit 1; }

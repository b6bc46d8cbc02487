#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every core that the fuzzer was given or made trouble with, once more under the sanitizers, and 40 changed copies of each.
set -euo pipefail
gcc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
	"$TOP/tests/fuzz/fuzz_core.c" "$TOP/tests/fuzz/replay.c" "$BUILD/sanitized/lib/libepitaph-tools.a" \
	-lelf -lpthread -o replay
./replay -m 40 "$TOP/tests/fuzz/corpus/core" >said 2>last || { tail -n 20 last; exit 1; }
read -r count _ <said
[ "$count" -ge 280 ] || { echo "only $count inputs"; exit 1; }

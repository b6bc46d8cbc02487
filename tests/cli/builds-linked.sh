#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs linked in every way, by gcc and clang: each crashes, and its core
# decodes to the log that the program kept.
set -euo pipefail
source "$TOP/tests/cli/lib/builds.bash"

for compiler in gcc clang; do
	build "$compiler-static" $compiler -O2 -static
	build "$compiler-static-pie" $compiler -O2 -static-pie
	build "$compiler-no-pie" $compiler -O2 -no-pie -fno-pie
	build "$compiler-sections" $compiler -O2 -ffunction-sections \
		-fdata-sections -Wl,--gc-sections -fno-plt
	build "$compiler-gold" $compiler -O2 -fuse-ld=gold
	build "$compiler-lld" $compiler -O2 -fuse-ld=lld
done
build gcc-relr gcc -O2 -Wl,-z,pack-relative-relocs
build gcc-mold gcc -O2 -fuse-ld=mold

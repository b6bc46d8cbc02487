#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs compiled with every kind of optimization and standard, by gcc and
# clang: each crashes, and its core decodes to the log that the program kept.
set -euo pipefail
source "$TOP/tests/cli/lib/builds.bash"

for compiler in gcc clang; do
	build "$compiler-O0" $compiler -O0
	build "$compiler-Os" $compiler -Os -std=c++20
	build "$compiler-O3" $compiler -O3 -std=c++2b -fcf-protection=full \
		-fomit-frame-pointer
	build "$compiler-before" $compiler -O2 -epitaph-method=finstrument
done
build gcc-lto gcc -O2 -flto
build gcc-lto-static gcc -O2 -flto -static
build clang-lto clang -O2 -flto -fuse-ld=lld
build clang-thinlto clang -O2 -flto=thin -fuse-ld=lld

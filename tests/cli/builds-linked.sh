#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs linked in every way, by gcc and clang: each crashes, and its core
# decodes to the log that the program kept.
set -euo pipefail
source "$TOP/tests/cli/lib/builds.bash"

# linked NAME gcc|clang FLAGS...: of the compiler's one object, by -O2
linked() {
	local name=$1 cxx=g++
	[ "$2" = gcc ] || cxx=clang++
	if [ ! -e "$2.o" ]; then
		EPITAPH_CXX=$cxx "$BIN/epitaph-c++" -DEVENTS=6000 -O2 -c "$TOP/tests/programs/truth.cc" -o "$2.o" || fail "$2 does not compile"
	fi
	EPITAPH_CXX=$cxx "$BIN/epitaph-c++" "${@:3}" "$2.o" -o "truth-$name" -lpthread >compiler.txt 2>&1 ||
		{ cat compiler.txt; fail "$name does not link"; }
	decoded "$name" leaves
}

for compiler in gcc clang; do
	linked "$compiler-static" $compiler -static
	linked "$compiler-static-pie" $compiler -static-pie
	build "$compiler-no-pie" $compiler -O2 -no-pie -fno-pie
	build "$compiler-sections" $compiler -O2 -ffunction-sections \
		-fdata-sections -Wl,--gc-sections -fno-plt
	linked "$compiler-gold" $compiler -fuse-ld=gold
	linked "$compiler-lld" $compiler -fuse-ld=lld
done
linked gcc-relr gcc -Wl,-z,pack-relative-relocs
linked gcc-mold gcc -fuse-ld=mold

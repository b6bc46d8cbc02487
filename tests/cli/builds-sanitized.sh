#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs built with the sanitizers, by gcc and clang: each crashes, and its
# core decodes to the log that the program kept.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/builds.bash"
export ASAN_OPTIONS=disable_coredump=0 TSAN_OPTIONS=disable_coredump=0
export UBSAN_OPTIONS=disable_coredump=0

for compiler in gcc clang; do
	build "$compiler-asan" $compiler -O1 -g -fsanitize=address
	build "$compiler-ubsan" $compiler -O1 -g -fsanitize=undefined
	build "$compiler-tsan" $compiler -O1 -g -fsanitize=thread
done

# Flows that leave calls without a return: sanitizers put functions of their own before the unwinder's, longjmp and vfork, in a
# shared library or in the program.
flow() { # PROGRAM gcc|clang SANITIZER FLAGS...
	local name=${1%.*} wrapper=epitaph-cc cxx=g++ status=0
	[[ $1 == *.c ]] || wrapper=epitaph-c++
	[ "$2" = gcc ] || cxx=clang++
	EPITAPH_CC=$2 EPITAPH_CXX=$cxx "$BIN/$wrapper" -w -g -O1 "-fsanitize=$3" "${@:4}" "$TOP/tests/programs/flows/$1" -o "$name" \
		-pthread >compiler.txt 2>&1 || { cat compiler.txt; fail "$* does not build"; }
	crash 134 "./$name"
	"$EPITAPH" replay --format=tsv core >tsv || status=$?
	[ "$status" -le 1 ] || fail "$*: replay ends with $status"
	python3 "$TOP/tests/cli/lib/flows.py" "$TOP/tests/programs/flows/$1" - tsv || fail "$*"
}

flow unwinds.cc gcc address
flow unwinds.cc gcc address -static-libasan
flow unwinds.cc clang address
flow jumps.c gcc address -static-libasan
flow jumps.c clang thread
flow vforks.c clang address

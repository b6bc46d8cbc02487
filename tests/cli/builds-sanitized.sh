#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs built with the sanitizers, by gcc and clang: each crashes, and its
# core decodes to the log that the program kept.
set -euo pipefail
source "$TOP/tests/cli/lib/builds.bash"
export ASAN_OPTIONS=disable_coredump=0 TSAN_OPTIONS=disable_coredump=0
export UBSAN_OPTIONS=disable_coredump=0

for compiler in gcc clang; do
	build "$compiler-asan" $compiler -O1 -g -fsanitize=address
	build "$compiler-ubsan" $compiler -O1 -g -fsanitize=undefined
	build "$compiler-tsan" $compiler -O1 -g -fsanitize=thread
done

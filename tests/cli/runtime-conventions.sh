#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Traced code computes what it computed: functions of every calling convention that the compilers have, under every method, -O0 to
# -O3, and every way through the hooks, keep each register that they keep untraced, and return and count the same. caller.c loads
# and compares all registers by assembly; each function is there twice, plain and traced.
# timeout: 400
# nothing crashes
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
programs=$TOP/tests/programs/conventions
settings=(EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_TIMESTAMP_EVERY=8 EPITAPH_TIMESTAMP_EVERY=auto EPITAPH_MIN_DURATION=1us EPITAPH_MODE=count
	EPITAPH=off)
export EPITAPH_SCHED=off EPITAPH_RING=16K

build() { # COMPILER METHOD FLAGS...: leaves ./caller
	local cc=$1 method=$2
	shift 2
	"$cc" "${flags[@]}" -c "$programs/caller.c" -o caller.o
	"$cc" "${flags[@]}" "$@" -DPART=plain -c "$programs/called.c" -o plain.o
	EPITAPH_CC=$cc "$BIN/epitaph-cc" "-epitaph-method=$method" "${flags[@]}" "$@" -DPART=traced -c "$programs/called.c" -o traced.o
	EPITAPH_CC=$cc "$BIN/epitaph-cc" "-epitaph-method=$method" "$@" -Wl,--no-warn-execstack caller.o plain.o traced.o -o caller
}
run() { # WHAT
	local setting
	for setting in "${settings[@]}"; do
		env "$setting" ./caller 600 2>err || { say "$1, $setting: status $?"; cat err; }
	done
}

flags=(-w -std=gnu11)
for level in 0 1 2 3; do
	for method in 'gcc pg' 'gcc finstrument' 'clang finstrument' 'clang after-inlining' 'clang xray'; do
		# shellcheck disable=SC2086
		build $method "-O$level"
		run "$method -O$level"
	done
done
for other in 'gcc pg -O2 -no-pie -fno-pie' 'gcc pg -O2 -epitaph-runtime=shared' 'clang xray -O2 -epitaph-runtime=shared' \
	'gcc pg -O2 -fomit-frame-pointer -static' 'gcc pg -O2 -mavx2'; do
	# shellcheck disable=SC2086
	build $other
	run "$other"
done
exit $((failures != 0))

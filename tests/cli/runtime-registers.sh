#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The hooks keep every register that they must: values of every class pass
# through traced functions, under every method, -O0 to -O3, every setting that
# takes another way through the hooks, with the static and the shared runtime.
# timeout: 600
# nothing crashes
set -euo pipefail

rounds=12000 # of about 60 calls each: a block is full, at each place in turn, 2,800 times
settings=(EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_TIMESTAMP_EVERY=8
	EPITAPH_TIMESTAMP_EVERY=auto EPITAPH_MIN_DURATION=1us EPITAPH=off)

run() { # WHAT: ./registers under each setting
	local setting
	for setting in "${settings[@]}"; do
		env "$setting" EPITAPH_RING=16K ./registers $rounds 2>err || {
			echo "$1, $setting: status $?"
			cat err
			exit 1
		}
	done
}

build() { # COMPILER METHOD OPTIONS...
	EPITAPH_CC=$1 "$BIN/epitaph-cc" -epitaph-method="$2" "${@:3}" \
		-std=gnu11 "$TOP/tests/programs/registers.c" -lm -o registers \
		2>err || { cat err; exit 1; }
}

# -z now is the wrapper's; an executable stack is what gcc's nested functions
# need, not what the hooks bring (frame-symbols.sh).
for level in 0 1 2 3; do
	for method in "gcc pg" "gcc finstrument" "clang finstrument" \
		"clang after-inlining" "clang xray"; do
		# shellcheck disable=SC2086
		build $method -O$level
		run "$method -O$level"
	done
done
build gcc pg -O2 -no-pie -fno-pie
run "gcc pg, not PIE"
build gcc pg -O2 -epitaph-runtime=shared
run "gcc pg, shared runtime"
build gcc finstrument -O2 -epitaph-runtime=shared
run "gcc finstrument, shared runtime"
build clang xray -O2 -no-pie -fno-pie -epitaph-runtime=shared
run "clang xray, shared runtime"
build gcc pg -O2 -static
run "gcc pg, static"
echo "every value arrived"

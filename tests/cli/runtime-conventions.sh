#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Traced code computes what it computed: functions of every calling convention that the compilers have, under every method, -O0 to
# -O3, and every way through the hooks, keep each register that they keep untraced, and return and count the same. caller.c loads
# and compares all registers by assembly; each function is there twice, plain and traced.
# timeout: 600
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
	"$cc" "${flags[@]}" -DGENERAL -c "$programs/caller.c" -o caller.o
	"$cc" "${flags[@]}" "$@" -mgeneral-regs-only -DPART=plain -c "$programs/general.c" -o plain_general.o
	EPITAPH_CC=$cc "$BIN/epitaph-cc" "-epitaph-method=$method" "${flags[@]}" "$@" -mgeneral-regs-only -DPART=traced \
		-c "$programs/general.c" -o traced_general.o
	"$cc" "${flags[@]}" "$@" -DPART=plain -c "$programs/called.c" -o plain.o
	EPITAPH_CC=$cc "$BIN/epitaph-cc" "-epitaph-method=$method" "${flags[@]}" "$@" -DPART=traced -c "$programs/called.c" -o traced.o
	EPITAPH_CC=$cc "$BIN/epitaph-cc" "-epitaph-method=$method" "$@" -Wl,--no-warn-execstack ./*.o -o caller
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

# What lost its hooks is named, with the reason, and nothing else lost them, wherever the attribute's name comes from: a header's
# macro, a definition on the command line, an attribute of C++.
mkdir inner
echo '#define EVERYTHING __attribute__((no_caller_saved_registers))' >inner/kept.h
printf '#include "kept.h"\n#define ALONE __attribute__((__naked__))\n' >inner/attributes.h
cat >source.c <<'SRC'
#include <attributes.h>
extern long sum;
EVERYTHING void counts(void) { sum++; }
ALONE void alone(void) { __asm__("ret"); }
HANDLER void handler(void *frame) { (void)frame; sum++; }
long ordinary(long a, long b, long c) { return counts(), a * b + c * sum; }
SRC
hooked() { # the functions of source.o that call hooks
	objdump -dr source.o | awk '/^[0-9a-f]+ </ { name = $2 } /__fentry__|__return__|__cyg_profile/ { print name }' | sort -u | xargs
}
compile=("$BIN/epitaph-cc" -w -O2 -mgeneral-regs-only -Iinner '-DHANDLER=__attribute__((interrupt))' -c source.c)
"${compile[@]}" -epitaph-verbose 2>said
has said 'counts: not traced: it saves all registers, or may'
has said 'alone: not traced: it is naked'
has said 'handler: not traced: it is an interrupt handler'
[ "$(hooked)" = '<ordinary>:' ] || say "gcc pg: hooks in $(hooked)"
"${compile[@]}" -epitaph-method=finstrument
[ "$(hooked)" = '<counts>: <handler>: <ordinary>:' ] || say "gcc finstrument: hooks in $(hooked)"
EPITAPH_CC=clang "${compile[@]}"
[ "$(hooked)" = '<counts>: <handler>: <ordinary>:' ] || say "clang: hooks in $(hooked)"
"${compile[@]}" -S && gcc -c source.s
[ "$(hooked)" = '<ordinary>:' ] || say "gcc -S: hooks in $(hooked)"
# Where the filter cannot stand the wrapper says so.
"${compile[@]}" -flto 2>said
has said 'mark these functions NOFUNTRACE'
exit $((failures != 0))

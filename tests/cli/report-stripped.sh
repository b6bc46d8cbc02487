#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A stripped program's functions are known by address only, and the report says so, what would help, and how many; with its debug file
# at hand, it has their names and says nothing.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

cat >app.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void inner(void) { abort(); }
__attribute__((noinline)) void outer(void) { inner(); __asm__ volatile(""); }
int main(void) { outer(); __asm__ volatile(""); }
END
"$BIN/epitaph-cc" -g -O1 -Wl,--build-id app.c -o app
id=$(readelf -n app | awk '/Build ID/ { print $3 }')
mkdir -p debug/.build-id/"${id:0:2}"
objcopy --only-keep-debug app debug/.build-id/"${id:0:2}/${id:2}.debug"
strip app
crash 134 ./app

"$EPITAPH" report core >page || [ $? -eq 1 ]
# main, outer, inner and _start; of what else of it is in the stack nobody is sure.
grep -Eq "/app is stripped: [4-9] of its functions are known by address only; .*--debug-path" page || { cat page; fail "not told"; }
! grep -q 'outer' page || { cat page; fail "names out of nothing"; }
"$EPITAPH" report --json core >page.json || [ $? -eq 1 ]
python3 -c '
import json
codes = [w["code"] for w in json.load(open("page.json"))["warnings"] if "/app is" in w["text"]]
assert codes == ["no-symbols"], codes'

"$EPITAPH" report --debug-path="$PWD/debug" core >page || [ $? -eq 1 ]
grep -q 'inner+0x' page && grep -q 'outer+0x' page || { cat page; fail "no names"; }
! grep -q '/app is stripped' page || { cat page; fail "told all the same"; }

# judge WORDS...: the report of the core says nothing that has one of the words.
judge() {
	local words
	"$EPITAPH" report --all core >page || [ $? -eq 1 ]
	for words in 'is not the file' 'frame lost' 'trace lost' 'overwritten' "$@"; do
		! grep -q "$words" page || { cat page; fail "\"$words\" is said"; }
	done
}

# Nested functions whose addresses are taken: code that writes their trampolines comes before the function's hook, which makes its
# address more than 128 bytes behind its start. That is no sign of another file.
{
	echo '#include <stdlib.h>'
	echo 'typedef void (*fn)(void);'
	echo 'void second(int deep), third(int deep);'
	echo '__attribute__((noinline, no_instrument_function)) static void use(fn one) { __asm__ volatile("" : : "r"(one)); }'
	for name in first second third; do
		echo "__attribute__((noinline)) void $name(int deep) {"
		for i in {1..12}; do
			echo "	__attribute__((no_instrument_function)) void inner$i(void) { deep += $i; }"
			echo "	use(inner$i);"
		done
		case $name in first) next='second(deep)' ;; second) next='third(deep)' ;; third) next='abort()' ;; esac
		echo "	$next; __asm__ volatile(\"\");"
		echo '}'
	done
	echo 'int main(void) { first(3); __asm__ volatile(""); }'
} >nested.c
"$BIN/epitaph-cc" -epitaph-method=finstrument -g -O1 -fno-optimize-sibling-calls -Wl,--build-id -Wl,-z,execstack nested.c -o nested
read -r start hook < <(objdump -d --no-show-raw-insn --disassemble=second nested | sed 's/^ *//; s/:$//' | awk '
	start == "" && /<second>$/ { start = $1 } /call.*__cyg_profile_func_enter/ { print start, $1; exit }' | tr -d :)
[ $((0x$hook - 0x$start)) -gt 150 ] || fail "the hook comes too soon: nothing is tested"
strip nested
crash 134 ./nested
judge

# What a function seldom does lies elsewhere, as f.cold, which is a function of its own where it has no name.
cat >cold.c <<'END'
#include <stdlib.h>
__attribute__((cold, noinline, no_instrument_function)) void fatal(int x) { if (x) *(volatile int *)8 = x; }
__attribute__((noinline)) int seldom(int x) { if (x == 7) { fatal(x); __builtin_trap(); } __asm__ volatile(""); return x + 1; }
__attribute__((noinline)) int often(int x) { int sum = seldom(x) + 1; __asm__ volatile(""); return sum; }
int main(int argc, char **argv) { int sum = often(argc) + often(6 + argc); (void)argv; return sum & 0; }
END
"$BIN/epitaph-cc" -g -O2 -Wl,--build-id cold.c -o cold
nm cold >symbols && grep -q ' seldom.cold$' symbols || fail 'no part that is cold: nothing is tested'
crash 139 ./cold
judge
grep -Eq '^ +#[0-9]+ +seldom' page || { cat page; fail 'no seldom'; }
strip cold
crash 139 ./cold
judge
# main, often and seldom have been called, and are on the stack.
[ "$(grep -c '\[called .* before the end\]' page)" -eq 3 ] || { cat page; fail 'not three calls'; }

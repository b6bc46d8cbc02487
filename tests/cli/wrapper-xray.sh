#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -epitaph-method=xray: the program's own flags choose which functions get sleds, as they do with clang's -fxray-instrument.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"
failures=0

cat >prog.c <<'END'
int n;
__attribute__((noinline)) void small(void) { n++; }
__attribute__((noinline)) void never(void) { n += 2; }
__attribute__((noinline)) int loops(int k) { int s = 0; while (k > 0) { s += k; k = k * 3 % 7 - 1; } return s; }
__attribute__((noinline)) int large(int k) { return k * k * k + k / 3 + k / 5 + k / 7 + k / 11 + k / 13 + k / 17 + k / 19 + k / 23; }
int main(void) { small(); never(); return loops(n) + large(n); }
END
printf 'fun:small\n' >always
printf 'fun:never\n' >nevers
printf '[never]\nfun:never\nfun:small\n' >attributes

# The names that sleds stand in, by clang itself and by the wrapper.
sleds() { # COMPILER OPTIONS...
	"$@" -O1 -c prog.c -o prog.o
	readelf -rW prog.o | sed -n "/xray_instr_map/,/^\$/p" | sed -n 's/.* \.text + \([0-9a-f]*\)$/\1/p' >offsets
	nm -n prog.o | sed -n 's/ [tT] / /p' >symbols
	python3 - <<-'PY'
	import bisect
	symbols = [line.split() for line in open("symbols")]
	starts = [int(start, 16) for start, _ in symbols]
	found = {symbols[bisect.bisect(starts, int(line, 16)) - 1][1] for line in open("offsets")}
	print(*sorted(found))
	PY
}
export EPITAPH_CC=clang
wrapper=("$BIN/epitaph-cc" -epitaph-method=xray)
for options in -fxray-instruction-threshold=15 '-fxray-instruction-threshold=15 -fxray-ignore-loops' \
	'-fxray-instruction-threshold=1000 -fxray-ignore-loops -fxray-always-instrument=always' \
	'-fxray-instruction-threshold=1 -fxray-never-instrument=nevers' '-fxray-instruction-threshold=1 -fxray-attr-list=attributes' \
	'-fxray-instruction-threshold=1 -fxray-function-groups=2 -fxray-selected-function-group=0' \
	'-fxray-instruction-threshold=1 -fxray-function-groups=2 -fxray-selected-function-group=1' \
	-fno-xray-instrument; do
	# shellcheck disable=SC2086
	want=$(sleds clang -fxray-instrument $options)
	# shellcheck disable=SC2086
	have=$(sleds "${wrapper[@]}" -Werror $options)
	[ "$want" = "$have" ] || { echo "$options: sleds in $have; clang has them in $want"; failures=1; }
done
[ "$(sleds "${wrapper[@]}")" = 'large loops main never small' ] || { echo 'without flags not all functions have sleds'; failures=1; }
[ "$(sleds "${wrapper[@]}" -fxray-never-instrument=nevers)" = 'large loops main small' ] || { echo 'a list alone'; failures=1; }
# Nothing of clang's own runtime comes along, and the program runs.
"${wrapper[@]}" -O1 -fxray-instruction-threshold=15 prog.c -o prog
nm prog >symbols
! grep -q __xray_patch symbols || { echo "compiler-rt is linked"; failures=1; }
[ $failures -eq 0 ]

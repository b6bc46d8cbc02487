# SPDX-License-Identifier: BSD-2-Clause
# A fault in code that is not the program's, which was called with a bad pointer (the kernel's vdso, libc, libm): the page names the
# program's own frame, from a core and from the snapshot that the death has written.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

traced foreign_fault program -ldl -lm -w
for where in vdso libc libm; do
	crash core.now env EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT="$PWD/shot" EPITAPH_TIMESTAMP_EVERY=1 "$PWD/program" $where
	for file in core.now shot; do
		gives 0 "$EPITAPH" report $file
		grep -qE '^in +#1 ask .*foreign_fault.c:' out || say "$where, $file: $(grep '^in ' out)"
		got=$(sed -nE 's/^  #[0-9]+ +([a-z_0-9A-Z]+)\+.*/\1/p' out | tail -n +2 | tr '\n' ' ')
		[ "${got% }" = "ask stamp main" ] || say "$where, $file: the stack is $got"
		[ $where != vdso ] || grep -qE '^  #0 +.*clock_gettime\+.* \[vdso\]' out || say "$file: $(grep '^  #0' out)"
		hasnt out 'no code is there'
	done
	rm -f shot
done
[ $failures -eq 0 ]

# SPDX-License-Identifier: BSD-2-Clause
# What a jump leaves that the compiler has written into a function (__builtin_longjmp, a goto out of a nested function) is not open
# when its function's caller goes on: by both compilers, each method and optimization. Without such a jump nothing is said to be
# left.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

# open BUILD HOW CALLS: those that are open at the end, by replay and by report
open() {
	local got
	crash core.now env EPITAPH_BUDGET=none EPITAPH_TIMESTAMP_EVERY=1 "$PWD/program" "$2"
	gives 0 "$EPITAPH" replay core.now
	got=$(sed -nE 's,^ *[^ ]+ +([a-z_.0-9]+)\(.*/\* did not return.*,\1,p' out | sed 's/\.[0-9]*$//' | tr '\n' ' ')
	[ "${got% }" = "$3" ] || say "$1 $2: open are \"$got\""
	gives 0 "$EPITAPH" report core.now
	hasnt out 'overwritten'
	! sed -n '/^  #/,/last calls/p' out | grep -E '^       [a-z]' || say "$1 $2: calls without a frame"
	gives 0 "$EPITAPH" stats --csv core.now
	[ "$2" != alive ] || [ "$(awk -F, 'NR > 1 && $8 != 0' out)" = "" ] || { say "$1 $2: said to be left"; cat out; }
}

for build in 'gcc -O0' 'gcc -O1' 'gcc -O2' 'gcc -O2 -no-pie' 'gcc -O1 -epitaph-method=finstrument' 'clang -O0' 'clang -O1' \
	'clang -O1 -epitaph-method=xray'; do
	# shellcheck disable=SC2086
	EPITAPH_CC=${build%% *} traced compiled_jumps program ${build#* } -w
	open "$build" alive 'main die'
	open "$build" builtin 'main jumps die'
	[[ $build == clang* ]] || open "$build" goto 'main searches die'
done
[ $failures -eq 0 ]

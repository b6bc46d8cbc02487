# SPDX-License-Identifier: BSD-2-Clause
# Fibers that switch by assembly leave no mark: that they do is seen and said, and no duration is called exact. Of one stack, of
# handlers on a stack of their own, of a deep recursion, of contexts that leave marks nothing of the kind is said.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

words='stacks that are not their own'
dies() { # PROGRAM HOW
	crash core.now env EPITAPH_BUDGET=none EPITAPH_TIMESTAMP_EVERY="${every:-1}" "$PWD/$1" "$2"
	"$EPITAPH" report core.now >report || [ $? -eq 1 ]
	"$EPITAPH" info core.now >info || [ $? -eq 1 ]
	"$EPITAPH" replay core.now >replay || [ $? -eq 1 ]
}

for build in gcc clang 'gcc -epitaph-method=finstrument' 'gcc -static' 'clang -epitaph-method=xray' 'gcc -epitaph-runtime=shared'; do
	flags=${build#gcc}
	flags=${flags#clang}
	# shellcheck disable=SC2086
	EPITAPH_CC=${build%% *} traced fibers_asm program $flags -w
	dies program fibers
	grep -qF "$words" report || { say "$build: the report"; sed -n '/^warn/,$p' report; }
	grep -qF "$words" info || say "$build: info: $(grep ^lost info)"
	grep -qF 'not certain from here on' replay || say "$build: replay"
	"$EPITAPH" stats --csv core.now >stats || [ $? -eq 1 ]
	[ "$(awk -F, 'NR > 1 && $5 != 0' stats)" = "" ] || { say "$build: exact times"; cat stats; }
	for how in own handler deep thread; do
		dies program $how
		! grep -hF "$words" report info || say "$build: $how"
		! grep -hF 'not certain from here on' replay || say "$build: $how: replay"
	done
done
# With a clock that is seldom read, too.
every=64
for how in own handler deep thread; do
	dies program $how
	! grep -hF "$words" report info || say "seldom: $how"
done
[ $failures -eq 0 ]

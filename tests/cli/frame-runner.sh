#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/run counts each single test, and neither a crash, a hang, an unexpected skip nor a wrong output passes it. What says that
# it is alone is, but for those that say that nothing crashes.
# sanitized only
set -euo pipefail

mkdir -p top/tests/{unit/any,cli} top/build/{bin,tests} top/build/sanitized/{bin,tests}
cp "$TOP/tests/run" "$TOP/tests/machine.bash" top/tests/
: >top/tests/expected-skips
printf '#!/bin/sh\n' | tee top/build/bin/epitaph >top/build/sanitized/bin/epitaph
chmod +x top/build/bin/epitaph top/build/sanitized/bin/epitaph

script() { printf '%s\n' "${@:2}" >"top/tests/cli/$1.sh"; }
unit() { # NAME LINES...: the same in both builds
	: >"top/tests/unit/any/check_$1.c"
	printf '%s\n' '#!/bin/sh' "${@:2}" >"top/build/tests/check_$1"
	chmod +x "top/build/tests/check_$1"
	cp "top/build/tests/check_$1" top/build/sanitized/tests/
}
says() { # STATUS LAST-LINE [NAME...]
	local status=0
	BUILD='' TIMEOUT=2 top/tests/run "${@:3}" >out 2>&1 || status=$?
	[ "$status" = "$1" ] && [ "$(tail -n 1 out)" = "$2" ] || { echo "wanted: status $1, $2; got $status:"; cat out; exit 1; }
}

says 1 "0 passed, 1 failed, 0 skipped" # no tests at all is no success
unit three 'echo "100%: Checks: 3, Failures: 0, Errors: 0"'
says 0 "6 passed, 0 failed, 0 skipped"
script good 'echo fine; [ "$PWD" != "$TOP" ] && [ -x "$EPITAPH" ] && [ -z "$(ls)" ]'
says 0 "8 passed, 0 failed, 0 skipped" # it names the reader: run with both
script good '# sanitized only' '[[ $EPITAPH == */sanitized/* ]]'
says 0 "7 passed, 0 failed, 0 skipped"
says 0 "1 passed, 0 failed, 0 skipped" good # by its plain name as well
says 0 "1 passed, 0 failed, 0 skipped" cli/good
script good '# plain only: the reader is only named here' '[[ $EPITAPH != */sanitized/* ]]'
says 0 "7 passed, 0 failed, 0 skipped"
for reason in '# plain only:' '# plain only: so' $'# plain only: nothing to find\n# sanitized only'; do
	script good "$reason" 'true'
	says 1 "0 passed, 1 failed, 0 skipped"
	grep -q '^tests/cli/good.sh: plain only, and ' out
done
script good 'true'
says 0 "7 passed, 0 failed, 0 skipped"
echo '/* plain only: it has nothing to find */' >top/tests/unit/any/check_three.c
says 0 "4 passed, 0 failed, 0 skipped"
echo ' * plain only:' >top/tests/unit/any/check_three.c
says 1 "0 passed, 1 failed, 0 skipped"
: >top/tests/unit/any/check_three.c

unit two_of_five 'echo "60%: Checks: 5, Failures: 1, Errors: 1"; exit 1'
says 1 "13 passed, 4 failed, 0 skipped"
grep -q '^FAIL unit/two_of_five' out
unit two_of_five 'kill -SEGV $$'
says 1 "7 passed, 2 failed, 0 skipped"
unit two_of_five 'echo "100%: Checks: 0, Failures: 0, Errors: 0"'
says 1 "7 passed, 2 failed, 0 skipped"
unit two_of_five 'echo "100%: Checks: 2, Failures: 0, Errors: 0"; exit 99'
says 1 "11 passed, 2 failed, 0 skipped"
rm top/build/tests/check_two_of_five
says 1 "9 passed, 2 failed, 0 skipped" # not built is not passed
rm top/tests/unit/any/check_two_of_five.c

script bad 'echo what went wrong; exit 3'
says 1 "7 passed, 1 failed, 0 skipped"
grep -q 'what went wrong' out
script bad 'sleep 20'
says 1 "7 passed, 1 failed, 0 skipped"
grep -q 'longer than 2 seconds' out
script bad 'echo not here; exit 77'
says 1 "7 passed, 1 failed, 0 skipped"
echo 'cli/bad  not here' >top/tests/expected-skips
says 0 "7 passed, 0 failed, 1 skipped"
says 0 "0 passed, 0 failed, 1 skipped" bad
echo 'cli/bad  root: not here' >top/tests/expected-skips
if [ "$EUID" -eq 0 ]; then
	says 1 "0 passed, 1 failed, 0 skipped" bad # an ordinary user's excuse
else
	says 0 "0 passed, 0 failed, 1 skipped" bad
fi
echo 'cli/bad  not here' >top/tests/expected-skips
says 0 "1 passed, 0 failed, 0 skipped" 'go*'
says 1 "0 passed, 1 failed, 0 skipped" nowhere

script bad 'echo one; echo two'
echo one >top/tests/cli/bad.expected
says 1 "7 passed, 1 failed, 0 skipped"
grep -q '+two' out
BUILD='' top/tests/run --bless bad >/dev/null
says 0 "8 passed, 0 failed, 0 skipped"
[ "$(cat top/tests/cli/bad.expected)" = "$(printf 'one\ntwo')" ]

rm top/tests/cli/*
script after '# alone' 'until [ -e "$TOP/beside" ]; do sleep 0.01; done; [ "$(cat "$TOP/other")" = done ]; echo after >"$TOP/other"'
script beside '# nothing crashes' ': >"$TOP/beside"'
script other 'sleep 0.3; echo done >"$TOP/other"'
JOBS=2 says 0 "3 passed, 0 failed, 0 skipped" 'after' 'beside' 'other'
[ "$(cat top/other)" = after ]

# Between runs: who is alone has the lock for itself, others share it, and who crashes nothing needs none.
rm top/tests/cli/*
: >cores
: >turn
sed -i "s|^CORES=.*|CORES=$PWD/cores TURN=$PWD/turn|" top/tests/run
script alone '# alone' "! flock -n --shared $PWD/cores true"
script shares "flock -n --shared $PWD/cores true && ! flock -n $PWD/cores true"
script free '# nothing crashes' "flock -n $PWD/cores true"
unit three "flock -n $PWD/cores true || echo '100%: Checks: 3, Failures: 0, Errors: 0'"
for name in alone shares free; do EPITAPH_TESTS_LOCKED='' says 0 "1 passed, 0 failed, 0 skipped" $name; done
EPITAPH_TESTS_LOCKED='' says 0 "6 passed, 0 failed, 0 skipped" three

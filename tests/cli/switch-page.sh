#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Many small hooks: with everything off those of a page of code go off together, also the ones that never run; with everything on
# all of them come back. Each page is counted once, though hooks lie closer there than the table has places.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off
count=3000

{
	echo 'static volatile int sum;'
	for ((i = 0; i < count; i++)); do echo "__attribute__((noinline)) void f$i(void) { sum += $i; }"; done
	# One in ten runs.
	echo '#include <unistd.h>'
	echo 'int main(void) { for (;;) {'
	for ((i = 0; i < count; i += 10)); do echo "f$i();"; done
	echo 'usleep(100); } }'
} >many.c
"$BIN/epitaph-cc" -O1 many.c -o many
EPITAPH_BUDGET=none ./many &
process=$!
trap 'kill -KILL $process 2>/dev/null || true' EXIT

number() { # KEY
	{ "$epitaph" info --json $process 2>/dev/null || [ $? -eq 1 ]; } | python3 -c "import json, sys; print(json.load(sys.stdin)['switching']['$1'])"
}
begun() { "$epitaph" info --json $process >info.json 2>/dev/null || [ $? -eq 1 ]; grep -q '"switching"' info.json; }
all_off() { [ "$(number sites)" -ge $((2 * count)) ]; }
hooks_in_memory() { # of all functions of the file but main
	# shellcheck disable=SC2046
	python3 "$TOP/tests/cli/lib/sites.py" $process many $(seq -f 'f%.0f' 0 $((count - 1))) | tr '\n' ' '
}
in_memory() { [ "$(hooks_in_memory)" = "on $1 off $2 " ]; } # ON OFF

soon begun || fail "it does not begin"
in_memory $((2 * count)) 0 || fail "before: $(hooks_in_memory)"
"$epitaph" control -q $process off
soon all_off || fail "of $((2 * count)) hooks $(number sites) went off"
soon in_memory 0 $((2 * count)) || fail "off: $(hooks_in_memory)"
address() { nm many | awk -v name="$1" '$3 == name { print $1 }'; }
bytes=$((16#$(address main) - 16#$(address f0)))
pages=$(number pages)
[ "$pages" -ge $((bytes / 4096)) ] && [ "$pages" -le $((bytes / 4096 + 3)) ] || fail "$pages pages of $bytes bytes of code"
"$epitaph" control -q $process on
in_memory $((2 * count)) 0 || fail "on: $(hooks_in_memory)"

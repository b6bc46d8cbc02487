#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Paused and resumed from outside 100 times under load: each call between a pause
# and its resume is hidden, each other is there, each pause is a gap, and nothing
# in any thread is torn. A pause is looked at where a record is timed: with every
# record timed it holds from the next one on.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/controlled.c" -o controlled
mkfifo in out
(ulimit -c unlimited && EPITAPH_TIMESTAMP_EVERY=1 exec ./controlled) <in >out 2>/dev/null &
pid=$!
trap 'kill -9 $pid 2>/dev/null || true' EXIT
exec 5>in 6<out
read -r word <&6
[ "$word" = ready ]
ask() {
	echo "$1" >&5
	[ "$1" = crash ] || read -r word <&6
}
for n in $(seq 100); do
	# The sanitized one each tenth time: the storm is the program's, which has the processors for itself meanwhile.
	reader=$BIN/epitaph
	[ $((n % 10)) != 0 ] || reader=$epitaph
	"$reader" control --quiet "$pid" pause
	ask step
	ask step
	"$reader" control --quiet "$pid" resume
	ask step
done
ask crash
wait "$pid" 2>/dev/null || true
mv core core.of 2>/dev/null || mv core.* core.of

EPITAPH=$epitaph
"$EPITAPH" info core.of >text || fail "info: $? $(cat text)"
# A thread may have been at it when the kernel stopped it.
grep -qE '^lost  *(nothing|[0-9]+ blocks were just being entered)$' text || { cat text; fail "something is lost"; }
"$EPITAPH" replay --thread controlled --format=tsv core.of >events || [ $? -eq 1 ]
steps=$(grep -c '^B.*	step	' events)
[ "$steps" = 100 ] || fail "$steps steps, not 100"
"$EPITAPH" replay --thread controlled core.of >tree || [ $? -eq 1 ]
gaps=$(grep -c 'paused' tree)
[ "$gaps" -ge 100 ] || fail "$gaps gaps, not 100"

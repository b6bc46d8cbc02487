#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A process whose main thread had ended crashes, and epitaph catch takes its snapshot, as of any: /proc/PID is a zombie's then, and the
# thread that dies has all that is needed.
# alone
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"

"$BIN/epitaph-cc" -O1 -g -fno-optimize-sibling-calls -I"$TOP" "$TOP/tests/programs/ended_main.c" -o ended_main -lpthread -ldl
dies_late() { # [COMMAND...]: when its main thread has ended
	rm -rf here && mkdir -m 777 here
	mkfifo here/to here/from
	(cd here && ulimit -c unlimited && exec "$@" "$room/ended_main" <to >from) 2>/dev/null &
	process=$!
	exec 7>here/to 8<here/from
	read -r -t 60 line <&8
	[ "$line" = ready ] || fail "it says $line"
	echo die >&7
	wait $process || true
	exec 7>&- 8<&-
	# shellcheck disable=SC2012
	soon ls "$store"/ended_main.*.core >/dev/null 2>&1 || { log; fail "no snapshot"; }
	snapshot=$(ls "$store"/ended_main.*.core)
	"$EPITAPH" report "$snapshot" >report 2>err || [ $? -eq 1 ] || { cat err; fail "no report"; }
	for words in SIGSEGV '#0    inner' '#1    outer' "program    $room/ended_main" "process    pid $process,"; do
		grep -q -- "$words" report || { cat report; fail "no $words"; }
	done
}

installed core
dies_late
[ -f here/core ] || fail "the core did not go on: $(ls here)"
installed core
dies_late setpriv --reuid=65534 --regid=65534 --clear-groups
reads_only 65534 "$snapshot"
# By a socket the kernel names no thread, so the one that dumps is looked for; kernels before 6.16 have none.
if printf '@%s\n' "$socket" >$pattern_file 2>/dev/null; then
	printf '%s\n' "$pattern_before" >$pattern_file
	start
	installed core --listen="$socket"
	dies_late
	stop
fi

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One user lets 1,000 processes die at once, and another four times eight meanwhile, which is his half: none of these is left out, neither its snapshot nor its
# core, by the kernel's handler and by the server.
# alone
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"
# As installed: the gate beside the program.
mkdir -p bin lib/epitaph
mv epitaph bin
cp "$BIN/../lib/epitaph/catch" lib/epitaph/catch
catch=$room/bin/epitaph
gcc -O1 -g "$TOP/tests/programs/bursts.c" -o bursts
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/bursts.c" -o theirs
as() { # USER COMMAND...
	local user=$1
	shift
	setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
}
count() { find "$1" -name "$2" | wc -l; }
all_there() { [ "$(count two 'core*')" = 32 ] && [ "$(count "$store" 'theirs.64532.*.core')" = 32 ]; }
burst() { # NAME
	local begun ready
	rm -rf one two && mkdir -m 777 one two
	(cd one && as 64531 ../bursts 1000 ready) >died.one &
	for ready in 1 2 3 4; do (cd two && as 64532 ../theirs 8 ready.$ready) >died.two.$ready & done
	for ready in one/ready two/ready.{1,2,3,4}; do soon test -e $ready || fail "$1: $ready is not there"; done
	begun=${EPOCHREALTIME/./}
	rm one/ready
	for ready in 1 2 3 4; do
		sleep 0.2
		rm two/ready.$ready
	done
	wait $(jobs -p | grep -vx "${server:-none}")
	[ "$(cat died.*)" = $'1000\n8\n8\n8\n8' ] || fail "$1: died $(cat died.*)"
	echo "$1: all died in $(((${EPOCHREALTIME/./} - begun) / 1000)) ms; left out $(grep -c '64531 has 32 crashes at once' "$store/log" || true)," \
		"cores of the one $(count one 'core*'), of the other's 32 $(count two 'core*'), snapshots $(count "$store" 'theirs.64532.*.core')"
	# The server's processes may be writing yet.
	soon all_there || { log | sed 's/^[0-9]* pid [0-9]* //' | sort | uniq -c; fail "$1: not all of the other's"; }
	# It is the gate, or the server, that leaves crashes out, not the kernel.
	[ $(($(grep -c '64531 has 32 crashes at once' "$store/log" || true) + $(count one 'core*'))) -ge 1000 ] || fail "$1: the kernel left some out"
}
installed core.%p --max-files=2000
burst pipe
[ "$(cat $limit_file)" = 4096 ] || fail "core_pipe_limit is $(cat $limit_file)"
"$catch" catch >said
grep -q '^installed' said || fail "$(cat said)"
if printf '@%s\n' "$socket" >$pattern_file 2>/dev/null; then # Linux before 6.16 sends none to sockets
	start
	installed core.%p --max-files=2000 --listen="$socket"
	burst socket
	stop
fi
"$catch" catch --uninstall --store="$store" >said
[ "$(cat $pattern_file)" = core.%p ] && [ "$(cat $limit_file)" = 0 ] || fail "not put back: $(cat $pattern_file), $(cat $limit_file)"

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A process whose executable, or a page of whose arena, lies in a file system that does not answer any more: report, extract, control and
# the others end, within seconds, and say why, also where their output is a pipe.
# timeout: 120
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"
[ "$(id -u)" -eq 0 ] && [ -w /dev/fuse ] || { echo "root: it mounts, and there is no /dev/fuse"; exit 77; }
gcc -O1 "$TOP/tests/programs/stalls.c" -o stalls
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/stalled.c" -o stalled
mkdir mount
pids=()
ends() {
	local pid
	# Without its server all that waits goes on.
	for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
	umount -l mount 2>/dev/null || true
}
trap ends EXIT
stalls_with() { # CONTENT: it is at mount/file
	ends
	pids=()
	rm -f stall
	./stalls mount "$1" stall 2>stalls.err &
	pids+=($!)
	soon test -e mount/file || { cat stalls.err; fail "no file system"; }
}
began() { # COMMAND...: "pid"
	rm -f go ready
	mkfifo go ready
	"$@" <go >ready &
	pid=$!
	pids+=($pid)
	exec 7>go
	read -r -t 20 _ <ready || fail "$* does not begin"
}
ends_in_time() { # WHAT STATUS... -- COMMAND...
	local what=$1 status=0 begun=$SECONDS wanted=
	shift
	while [ "$1" != -- ]; do wanted+=" $1 "; shift; done
	shift
	timeout -s KILL 30 "$@" </dev/null >out 2>err 7>&- || status=$?
	[[ $wanted == *" $status "* ]] || { cat out err; fail "$what: $*: status $status in $((SECONDS - begun)) s"; }
	echo "$what: ${*:2:2}: $status in $((SECONDS - begun)) s: $(tail -n 1 err)"
}

# While it answers all is well.
stalls_with stalled
began mount/file
ends_in_time answers 0 1 -- "$EPITAPH" report $pid
# Its executable does not answer.
touch stall
for command in report extract info 'control PID status' stats; do
	words=(${command/PID/$pid})
	[[ $command == *PID* ]] || words+=("$pid")
	[ "$command" != extract ] || words+=(-o snapshot)
	ends_in_time executable 0 1 3 -- "$EPITAPH" "${words[@]}"
done
kill -9 $pid

# A page of the arena does not.
head -c 8192 /dev/zero >page
stalls_with page
began ./stalled mount/file page
touch stall
for command in report extract info 'control PID status' stats; do
	words=(${command/PID/$pid})
	[[ $command == *PID* ]] || words+=("$pid")
	[ "$command" != extract ] || words+=(-o snapshot)
	ends_in_time page 3 -- "$EPITAPH" "${words[@]}"
	grep -q 'reading it does not come back' err || { cat err; fail "$command: not said"; }
	grep -q "^epitaph: $pid: given up" err || { cat err; fail "$command: not said of $pid"; }
done
# Into a pipe: its reader sees the end.
begun=$SECONDS
status=0
"$EPITAPH" report $pid 2>&1 7>&- | cat >out || status=$?
[ $status -eq 3 ] && grep -q 'given up' out || { cat out; fail "into a pipe: $status"; }

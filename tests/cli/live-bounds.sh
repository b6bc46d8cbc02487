#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Processes that say too much of themselves: who looks at them ends, with an answer or a refusal, and takes no more memory than
# 256 MB. A lock that strangers can take holds up nobody, and the process's own nobody for long.
# nothing crashes
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
unset EPITAPH # to a traced program it is on or off
jobs=
trap 'kill -9 $jobs 2>/dev/null || true' EXIT
trap 'exit 1' INT TERM

"$BIN/epitaph-cc" -O1 -I "$TOP" "$TOP/tests/programs/boundless.c" -o boundless
cat >bounded.py <<'PY'
# bounded.py COMMAND...: its status, or 99 if it took more than 256 MB or 10 s of a processor (a hang: 2 s are promised)
import os, resource, sys
pid = os.fork()
if not pid:
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(pid, 0)
code = os.waitstatus_to_exitcode(status)
if code < 0 or used.ru_maxrss > 256 << 10:
    print("status", code, "and", used.ru_maxrss, "KiB", file=sys.stderr)
    code = 99
sys.exit(code)
PY

begin() { # WHAT: as $pid
	rm -f in
	mkfifo in
	./boundless "$1" >in &
	pid=$!
	jobs="$jobs $pid"
	read -r word <in
	[ "$word" = ready ] || say "$1: $word"
}
within() { # STATUSES COMMAND...: its status is one of them
	local want=$1 got=0
	shift
	timeout -k 1 60 python3 bounded.py "$BIN/epitaph" "$@" >said 2>err || got=$?
	[[ " $want " == *" $got "* ]] || { say "$what: $*: status $got, not $want"; tail -3 err; }
}

for what in sites many entries sleds arena kept maps rings locked; do
	begin $what
	for action in hooks status off on 'untrace x*'; do
		# shellcheck disable=SC2086
		within "0 1 2 3" control $pid $action
		case "$what $action" in
		"sites on" | "entries on" | "sleds on") has err 'would take too long to go through' ;;
		"sites hooks" | "entries hooks") has err 'whether its hooks are as they should be is not known' ;;
		"many on") has err 'its table of hooks makes no sense' ;;
		"rings hooks" | "rings status") has err 'which is no page of it' ;;
		"locked on" | "locked off") has err 'the process itself has kept its hooks locked' ;;
		"locked hooks") has said 'functions' ;;
		esac
	done
	within "0 1 3" report $pid
	within "0 1 3" extract -o out.core $pid
	case $what in
	arena | kept) has err 'are said to be' ;;
	rings) has err 'which is no page of it' ;;
	esac
	within "0 1 3" control $pid snapshot -o out.core
	kill -9 $pid
done

# One with no trace, and terabytes in which one may be: it is not looked for without end.
what=untraced
python3 -c 'import mmap, time
keep = [mmap.mmap(-1, 15 << 30, 0x4022, mmap.PROT_READ | i % 2 * mmap.PROT_WRITE) for i in range(200)]
print("ready", flush=True)
time.sleep(600)' >in &
pid=$!
jobs="$jobs $pid"
read -r word <in
within 2 stats $pid
has err 'no trace in what a second of a processor was enough to look at'

# A stranger who holds the folder of root's own process in /proc, which everybody can open.
if [ "$(id -u)" = 0 ]; then
	what=stranger
	begin none
	stranger=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	! "${stranger[@]}" flock --nonblock "/proc/$pid/mem" true 2>err || say "a stranger may lock the memory"
	"${stranger[@]}" flock "/proc/$pid" sh -c 'echo held; exec sleep 600' >in &
	jobs="$jobs $!"
	read -r word <in
	[ "$word" = held ] || say "a stranger may not lock the folder: $word"
	within 0 control $pid off
	within 0 control $pid on
	within 0 control $pid hooks
fi
[ $failures = 0 ]

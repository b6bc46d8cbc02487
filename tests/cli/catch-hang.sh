#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A process crashes whose working directory, or a page of whose memory, lies in a file system that does not answer any more (FUSE). The
# handler gives up within seconds and lets the process go, and others' crashes are handled. What the kernel itself waits for there,
# with or without a handler, ends with the file system's server.
# alone
# timeout: 120
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"
[ -w /dev/fuse ] || { echo "there is no /dev/fuse"; exit 77; }
gcc -O1 "$TOP/tests/programs/stalls.c" -o stalls
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/dies_as.c" -o dies_as
mkdir mount
fuse=
unmount() {
	# Without its server all that waits goes on.
	[ -z "$fuse" ] || kill -9 $fuse 2>/dev/null || true
	umount -l mount 2>/dev/null || true
	fuse=
}
trap 'unmount; put_back' EXIT
stalls_with() { # CONTENT: it is at mount/file
	unmount
	rm -f stall
	./stalls mount "$1" stall 2>stalls.err &
	fuse=$!
	soon test -e mount/file || { cat stalls.err; fail "no file system"; }
}
gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }
handlers_are_gone() { # Those that wait for the file system have been left behind.
	local pid
	for pid in $(pgrep -f "^$catch catch $store "); do
		grep -q '^State:.D' "/proc/$pid/status" || gone "$pid" || return 1
	done
}

# The core would go to a working directory that does not answer.
for way in 0 4 listen; do
	options=(--timeout=2)
	if [ $way = listen ]; then
		printf '@%s\n' "$socket" >$pattern_file 2>/dev/null || continue # Linux before 6.16
		options+=(--listen="$socket")
		installed core --timeout=2 # settings for the server to begin with
		start
	fi
	installed core "${options[@]}"
	[ $way = listen ] || echo $way >$limit_file
	stalls_with dies_as
	(ulimit -c unlimited && exec ./dies_as cwd="$room/mount" wait="$room/go") >/dev/null 2>&1 &
	pid=$!
	in_it() { [ "$(readlink /proc/$pid/cwd)" = "$room/mount" ]; }
	soon in_it || fail "it did not begin"
	touch stall
	begun=$SECONDS
	touch go
	soon gone $pid 2>/dev/null || { cat "/proc/$pid/stack"; log; fail "$way: the process is held"; }
	echo "$way: $((SECONDS - begun)) s"
	grep -q "pid $pid .*core: nothing moved for 2 seconds" "$store/log" || { log; fail "$way: not said"; }
	soon handlers_are_gone || { ps -eo pid,stat,wchan:30,args; fail "$way: the handler does not end"; }
	rm go
	unmount
	[ $way != listen ] || stop
done

# A page of the memory is the file system's, and nobody has read it yet: the kernel waits for it.
head -c 8192 /dev/zero >page
installed core --timeout=2
stalls_with page
(ulimit -c unlimited && exec ./dies_as maps=mount/file wait="$room/go") >/dev/null 2>&1 &
pid=$!
maps_it() { grep -q "$room/mount/file" "/proc/$pid/maps"; }
soon maps_it || fail "it does not map the file"
touch stall go
said() { grep -q "pid $pid .*no snapshot: it took more than 2 seconds" "$store/log" && grep -q "pid $pid .*nothing moved" "$store/log"; }
soon said 2>/dev/null || { cat "/proc/$pid/stack"; log; fail "a page: not said"; }
soon handlers_are_gone || { ps -eo pid,stat,wchan:30,args; fail "a page: the handler does not end"; }
! gone $pid || fail "a page: the kernel does not wait for it"
dies null
snapshot_is_of here/core
unmount
soon gone $pid || { cat "/proc/$pid/stack"; fail "a page: the process is held by nobody"; }

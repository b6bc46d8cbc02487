#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Crashes in containers through the kernel's real handler: in a root, a mount, a pid and a UTS namespace of their own, as another
# user, and in a user namespace of an unprivileged one. The snapshot has the host's pid in its name and is the user's; the core goes
# where the process would have written it; what only the process's files tell is in the snapshot; names come by --sysroot or build-id.
# alone
# timeout: 120
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"
unshare -m -p -u -f true 2>/dev/null || { echo "no namespaces here"; exit 77; }

# Its libraries lie where the host has none.
cat >inside.c <<'SRC'
#include <assert.h>
#include <stdio.h>
static __attribute__((noinline)) void in_the_container(int n) { assert(n != 3 || !"said inside"); }
int main(void)
{
	getchar();
	for (int i = 0; i < 5; i++) { in_the_container(i); __asm__ volatile(""); }
}
SRC
mkdir -p root/libraries root/lib64
mkdir -m 777 root/cores
"$BIN/epitaph-cc" -g -O1 inside.c -o root/app
cp -L /lib64/ld-linux-x86-64.so.2 root/lib64/
ldd root/app | grep -oE '/[^ ]+/libc\.so[^ ]*' | while read -r library; do cp -L "$library" root/libraries/; done
mkfifo go

# contained COMMAND...: the app, as the second process of its namespace, under that command; "pid" and "inner" are its pids here and
# there, "user" the host's name for who runs it, "snapshot" what it left
contained() {
	local crashed process
	rm -rf root/cores/*
	(ulimit -c unlimited && exec "$@" bash -c '{ hostname inside; } 2>/dev/null
		LD_LIBRARY_PATH=/libraries '"$enter"' /app; true' <go) >/dev/null 2>&1 &
	crashed=$!
	exec 8>go # until somebody reads
	pid=
	found() {
		for process in /proc/[0-9]*; do
			[ "$(readlink "$process/root" 2>/dev/null)" = "$room/root" ] || continue
			grep -qx app "$process/comm" 2>/dev/null && pid=${process#/proc/} && return 0
		done
		return 1
	}
	soon found || fail "$*: it did not start"
	inner=$(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status")
	user=$(awk '/^Uid:/ { print $2 }' "/proc/$pid/status")
	[ "$inner" != "$pid" ] || fail "$*: no pid namespace"
	echo >&8
	exec 8>&-
	wait $crashed || true
	snapshot=$(echo "$store"/app.*."$pid".*.core)
	[ -f "$snapshot" ] || { ls "$store"; cat "$store/log"; fail "$*: no snapshot of pid $pid"; }
}
names() { # WORDS OPTIONS...: the report says that
	local words=$1
	shift
	"$EPITAPH" report "$@" "$snapshot" >page 2>said || [ $? -eq 1 ]
	grep -q "$words" page || { cat page said; fail "report $*: no \"$words\""; }
}

# A user of the container's; the core where the container would have had it, by its own words for host, program and pid.
installed '/cores/%h.%E.%p.%P'
enter="chroot --userspec=65534:65534 $room/root"
contained unshare -m -p -u -f
[ "$user" = 65534 ] || fail "it ran as $user"
reads_only 65534 "$snapshot"
core="root/cores/inside.!app.$inner.$pid"
[ -f "$core" ] || { cat "$store/log" || true; fail "no $core, but $(ls root/cores)"; }
[ "$(stat -c %u:%a "$core")" = 65534:600 ] || fail "the core is of $(stat -c %u:%a "$core")"
[ ! -e /cores ] || fail "a core on the host"
"$EPITAPH" extract -q --sysroot=root -o wanted "$core" || [ $? -eq 1 ]
cmp <(without_end wanted) <(without_end "$snapshot") || fail "the snapshot is not that of the core"
"$catch" list "$store" >list
grep -q "SIGABRT .*$snapshot\$" list || { cat list; fail "list"; }

# What it said is found by the libc that only it had; the names by its root, or by build-id, and where they are missing, that is said.
"$EPITAPH" report "$snapshot" >page 2>said || [ $? -eq 1 ]
grep -q 'app: /app: No such file.*--sysroot.*--debug-path' page || { cat page said; fail "what is missing is not said"; }
! grep -q 'in_the_container()' page || { cat page; fail "names from nowhere"; }
names '^  #.*in_the_container.*inside.c:3 .*called' --sysroot=root
names 'said inside' --sysroot=root
id=$(readelf -n root/app | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
cp root/app "debug/.build-id/${id:0:2}/${id:2}.debug"
names 'in_the_container()' --debug-path=debug

# The root of a user namespace is an unprivileged user of the host's: what it leaves is his, not root's.
if setpriv --reuid=65533 --regid=65533 --clear-groups unshare -U -r -m -p -u -f true 2>/dev/null; then
	installed '/cores/%u'
	enter="chroot $room/root"
	contained setpriv --reuid=65533 --regid=65533 --clear-groups unshare -U -r -m -p -u -f
	[ "$user" = 65533 ] || fail "in a user namespace it ran as $user"
	reads_only 65533 "$snapshot"
	[ "$(stat -c %u:%a root/cores/65533)" = 65533:600 ] || fail "the core is not the user's: $(ls -l root/cores)"
	names 'in_the_container()' --sysroot=root
	setpriv --reuid=65533 --regid=65533 --clear-groups "$catch" info "$snapshot" >page 2>said || [ $? -eq 1 ] ||
		{ cat said; fail "the user cannot read what is his"; }
fi

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where a core goes: with epitaph catch in between it is where the kernel alone puts it, and nowhere else, whatever links, files and
# folders the crashed user has laid there. Each case is one of docs/catch.md's table, and happens twice: what the kernel made is what
# is expected. What the kernel follows, and we don't, comes after them.
# alone
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"

suid_file=/proc/sys/fs/suid_dumpable
suid_before=$(cat $suid_file) uses_before=$(cat /proc/sys/kernel/core_uses_pid)
trap 'echo "$suid_before" >$suid_file; echo "$uses_before" >/proc/sys/kernel/core_uses_pid; put_back' EXIT
gcc -static -O1 "$TOP/tests/programs/dies_as.c" -o dies_as
cp dies_as privileged && chmod 4755 privileged
nobody="gid=65534 uid=65534 dumpable=1"
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# What lies in "t": kind, owner, mode, names, where a link leads, and what is in it. pids are no part of it, nor are cores of
# others that crash meanwhile.
tree() {
	local strangers=(-name '*.core' ! -name 'dies_as.*' ! -name 'privileged.*' -prune -o)
	(cd t && find . -mindepth 1 "${strangers[@]}" -printf '%P %y %U:%G %m %n %l\n' | sed -E 's/\.[0-9]{2,}( |$)/.PID\1/' | LC_ALL=C sort
		find . "${strangers[@]}" -type f -print | sed -E 's/\.[0-9]{2,}$/.PID/' | LC_ALL=C sort | while read -r file; do
			set -- "${file%PID}"*
			if [ "$(head -c 4 "$1")" = $'\x7fELF' ]; then echo "$file: a core"; else echo "$file: $(cat "$1")"; fi
		done)
}
# both PATTERN SETUP COMMAND...: the same by both; the tree is then "tree"
both() {
	local pattern=$1 setup=$2
	shift 2
	for way in kernel epitaph; do
		rm -rf t && mkdir -m 755 t && mkdir -m 777 t/w
		(cd t && $setup)
		if [ $way = kernel ]; then printf '%s\n' "$pattern" >$pattern_file; else installed "$pattern"; fi
		(cd t/w && ulimit -c unlimited && exec "$@") >/dev/null 2>&1 || true
		tree >tree.$way
	done
	if ! cmp -s tree.kernel tree.epitaph; then
		log
		diff tree.kernel tree.epitaph || fail "$pattern $setup $*: not as the kernel does it"
	fi
}
left() { grep -qE "^$1" tree.epitaph || { cat tree.epitaph; fail "$2"; }; }
precious() { left './precious: gold$' "$1"; }
dies_as=$room/dies_as privileged=$room/privileged

# A relative name, in the working directory.
nothing() { :; }
both core nothing "$dies_as" $nobody
left 'w/core f 65534:65534 600 1 $' "no core"
left '\./w/core: a core$' "the core is none"
link() { echo gold >precious; chown 65534 precious; ln -s ../precious w/core; }
both core link "$dies_as" $nobody
precious "through a link"
hard_link() { echo gold >precious; chown 65534 precious; ln precious w/core; }
both core hard_link "$dies_as" $nobody
precious "through a second name"
fifo() { mkfifo "${1:-w/core}"; }
both core fifo "$dies_as" $nobody
folder() { mkdir w/core; }
both core folder "$dies_as" $nobody
others_file() { echo gold >"${1:-w/core}"; chmod 600 "${1:-w/core}"; } # in a folder that anybody may write to
both core others_file "$dies_as" $nobody
sticky() { others_file; chmod 1777 w; }
both core sticky "$dies_as" $nobody
left './w/core: gold$' "another's file in a sticky folder"
read_only() { chmod 755 w; }
both core read_only "$dies_as" $nobody
! grep -q 'w/core' tree.epitaph || fail "a core where the user may not write"
both sub/core 'mkdir -m 777 w/sub' "$dies_as" $nobody
left './w/sub/core: a core$' "no core in a folder below"
in_group() { chgrp 65533 w; chmod 770 w; }
both core in_group "$dies_as" groups=65533 $nobody
left './w/core: a core$' "a supplementary group is forgotten"
both core in_group "$dies_as" $nobody
! grep -q 'w/core' tree.epitaph || fail "a group that it does not have"
owned() { chown "$1" w; chmod 700 w; }
both core 'owned 65533' "$dies_as" euid=65533 dumpable=1
left 'w/core f 65533:0 600' "not as the file system's user"
echo 1 >/proc/sys/kernel/core_uses_pid
both core nothing "$dies_as" $nobody
left 'w/core.PID f 65534' "core_uses_pid"
echo "$uses_before" >/proc/sys/kernel/core_uses_pid

# Names that a process gives itself.
for name in . .. '' a/b ../../x; do
	both w.%e nothing "$dies_as" $nobody name="$name"
	both sub/%e 'mkdir -m 777 w/sub' "$dies_as" $nobody name="$name"
done

# An absolute name: from the process's own root, and links in it, too.
both "$room/t/w/%e.%u.core" nothing "$dies_as" $nobody
left './w/dies_as.65534.core: a core$' "an absolute name"
on_the_way() { mkdir -m 777 real; ln -s real way; }
both "$room/t/way/%e.core" on_the_way "$dies_as" $nobody
left './real/dies_as.core: a core$' "a link on the way that root made"
rooted() { mkdir inner; ln -s "$1" inner/cores; mkdir -m 777 inner/inside; }
both /cores/core 'rooted /inside' "$dies_as" root="$room/t/inner" cwd=/ $nobody
left './inner/inside/core: a core$' "a link inside of a root"
# The host's, by the same link, is out of reach; it would have been removed, and written.
outside() { rooted "$room/t/w"; echo gold >w/core; }
both /cores/core outside "$dies_as" root="$room/t/inner" cwd=/ $nobody
left './w/core: gold$' "a container's link leads to the host"
above() { rooted ../../w; echo gold >w/core; mkdir -m 777 inner/w; }
both /cores/core above "$dies_as" root="$room/t/inner" cwd=/ $nobody
left './w/core: gold$' "a container's link leads above its root"
left './inner/w/core: a core$' "its root is where .. ends"
both /cores/core above "$dies_as" root="$room/t/inner" cwd=/
left './w/core: gold$' "a link of a container's root leads above its root"

# Users of namespaces are who they are outside of them, and what they may do inside counts for nothing here.
if "${as_nobody[@]}" unshare -Ur unshare -Ur true 2>/dev/null; then
	for inside in 'unshare -Ur' 'unshare -Ur unshare -Ur'; do
		# shellcheck disable=SC2086
		both core nothing "${as_nobody[@]}" $inside "$dies_as"
		left 'w/core f 65534:65534 600' "the root of a user namespace: $inside"
		# shellcheck disable=SC2086
		both core 'owned 65533' "${as_nobody[@]}" $inside "$dies_as"
		! grep -q 'w/core' tree.epitaph || fail "where only its root's rights would let it: $inside"
		# Ours, but mapped.
		# shellcheck disable=SC2086
		both core 'owned 65533' $inside "$dies_as"
		! grep -q 'w/core' tree.epitaph || fail "root's rights, in a namespace: $inside"
	done
	echo 2 >$suid_file
	both "$room/t/w/%e.core" 'others_file w/privileged.core' "${as_nobody[@]}" unshare -Ur "$privileged"
	both "$room/t/w/%e.core" nothing "${as_nobody[@]}" unshare -Ur "$dies_as" dumpable=0
	echo "$suid_before" >$suid_file
fi

# With privileges (dumpable 2): from the root of all, at absolute names, root's, and nothing is removed.
echo 2 >$suid_file
both core nothing "${as_nobody[@]}" "$privileged"
! grep -q 'w/core' tree.epitaph || fail "a privileged program's core in a user's folder"
both "$room/t/w/%e.core" nothing "${as_nobody[@]}" "$privileged"
left 'w/privileged.core f 0:65534 600 1 $' "a privileged program's core is not root's"
both "$room/t/w/%e.core" "others_file w/privileged.core" "${as_nobody[@]}" "$privileged"
left './w/privileged.core: gold$' "what lay there is gone"
both "$room/t/w/%e.core" 'ln -s ../precious w/privileged.core' "${as_nobody[@]}" "$privileged"
! grep -q '^precious' tree.epitaph || fail "through a link, with root's rights"
both "$room/t/w/%e.core" "fifo w/privileged.core" "${as_nobody[@]}" "$privileged"
both "$room/t/w/%e.core" 'owned 65533' "${as_nobody[@]}" "$dies_as" dumpable=1
echo "$suid_before" >$suid_file

# What the kernel follows and we don't: links of proc(5), which are the follower's, and out of a working directory. Said in the log.
refused() { # PATTERN WHY COMMAND...
	local pattern=$1 why=$2
	shift 2
	installed "$pattern"
	(cd t/w && ulimit -c unlimited && exec "$@") >/dev/null 2>&1 || true
	grep -q "$pattern: did not take all of the core: $why" "$store/log" || { log; fail "$pattern: not said"; }
}
rm -rf t && mkdir -m 755 t && mkdir -m 777 t/w t/inner t/host
ln -s "$room/t/host" t/w/sub
refused sub/core 'sub: its folder: ' "$dies_as" $nobody
refused ../host/core '../host: its folder: ' "$dies_as" $nobody
[ -z "$(ls t/host)" ] || fail "out of its working directory"
ln -s "/proc/self/root$room/t/host" t/inner/cores
mkdir t/inner/proc
refused /cores/core '/cores: its folder: ' unshare -m bash -c "mount --rbind /proc $room/t/inner/proc && exec $dies_as root=$room/t/inner cwd=/"
[ -z "$(ls t/host)" ] || fail "by a link of the container's proc"

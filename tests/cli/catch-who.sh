#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who crashed, and who may read what that left: nothing is read of a process that the kernel does not dump, whatever the handler is
# told; programs with privileges leave nothing to their user; and nobody's crashes cost another user's snapshots, or places.
# alone
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"

suid_file=/proc/sys/fs/suid_dumpable
suid_before=$(cat $suid_file)
other=
trap 'echo "$suid_before" >$suid_file; touch "$room/go"; [ -z "$other" ] || kill -9 "$other" 2>/dev/null || true; put_back' EXIT
"$BIN/epitaph-cc" -g -O1 "$TOP/tests/programs/dies_as.c" -o dies_as
dies_as=$room/dies_as
as() { # USER COMMAND...
	local user=$1
	shift
	setpriv --reuid="$user" --regid=64534 --clear-groups "$@"
}
crashes() { # COMMAND...: in a folder that anybody may write to; "snapshot" is what that left, or nothing
	rm -rf here && mkdir -m 777 here
	(cd here && ulimit -c unlimited && exec "$@") >/dev/null 2>&1 || true
	# shellcheck disable=SC2012
	snapshot=$(ls -t "$store"/dies_as.*.core 2>/dev/null | head -n 1) || true
}

# --- who may read ---

installed core
crashes setpriv --reuid=64534 --regid=64534 --clear-groups "$dies_as"
[[ $snapshot == "$store/dies_as.64534."* ]] || { log; fail "no snapshot: $(ls "$store")"; }
reads_only 64534 "$snapshot"
as 64534 "$catch" info "$snapshot" >page 2>said || [ $? -eq 1 ] || { cat said; fail "the user cannot read what is his"; }
# Started by root, and dumpable on its own wish: with a saved id of root's; with root's group.
for words in "gid=64534 most=64534" "uid=64534"; do
	installed core
	# shellcheck disable=SC2086
	crashes "$dies_as" $words dumpable=1
	[ -n "$snapshot" ] || { log; fail "$words: no snapshot"; }
	[ "$words" = uid=64534 ] || only_root_reads "$snapshot"
done
# A setuid program that has given up what it had (AT_SECURE is all that tells), and one that has not (dumpable 2).
chown 0 "$dies_as" && chmod 4755 "$dies_as"
installed core
crashes setpriv --reuid=64534 --regid=64534 --clear-groups "$dies_as" uid=64534 dumpable=1
[ -n "$snapshot" ] || { log; fail "no snapshot of a setuid program that has dropped its privileges"; }
only_root_reads "$snapshot"
echo 2 >$suid_file
installed core
crashes setpriv --reuid=64534 --regid=64534 --clear-groups "$dies_as"
[ -n "$snapshot" ] || { log; fail "no snapshot of a setuid program"; }
only_root_reads "$snapshot"
echo "$suid_before" >$suid_file
chmod 755 "$dies_as"

# --- who crashed ---

# A handler that is called by hand, with a core on its stdin that goes on all the same.
printf '#!/bin/bash\nexec cat >%s/saved\n' "$room" >saver
chmod +x saver
installed "|$room/saver"
cp -r "$store" by_hand
cp by_hand/settings .
hold_crashes
held "$dies_as"
now=$(date +%s) unlimited=18446744073709551615
called() { # WANTED WHY WORDS...: that many snapshots, and that is said
	local wanted=$1 why=$2 status=0
	shift 2
	rm -f by_hand/*.core by_hand/log saved
	"$catch" catch "$room/by_hand" "$@" <a.core 2>said || status=$?
	[ "$(find by_hand -name '*.core' | wc -l)" -eq "$wanted" ] || { cat said by_hand/log || true; fail "$why: $(ls by_hand)"; }
	cmp -s a.core saved || fail "$why: the core did not go on"
	[ "$wanted" -eq 1 ] || { [ $status -eq 2 ] && grep -q "$why: nothing of it is read" by_hand/log; } ||
		{ cat said by_hand/log; fail "$why: not said, $status"; }
}
"$dies_as" wait="$room/never" &
other=$!
called 0 "is not being dumped" $other $other 11 "$now" 1 $unlimited
# With the process of a crash that is held meanwhile.
called 1 "a crash" $pid $pid 11 "$(date +%s)" 1 $unlimited 0 0 0
called 1 "a crash, by the words of before" $pid $pid 11 "$(date +%s)" 1 $unlimited
# What lies at the snapshot's name, by root's mistake, stays, and nothing comes of what it leads to.
for kind in link dangling hard folder; do
	rm -rf by_hand/*.core by_hand/log saved nowhere precious
	echo gold >precious
	now=$(date +%s)
	name=by_hand/dies_as.0.$pid.$(date -u -d "@$now" +%Y%m%dT%H%M%SZ).core
	case $kind in
	link) ln -s "$room/precious" "$name" ;;
	dangling) ln -s "$room/nowhere" "$name" ;;
	hard) ln precious "$name" ;;
	folder) mkdir "$name" ;;
	esac
	"$catch" catch "$room/by_hand" $pid $pid 11 "$now" 1 $unlimited 0 0 0 <a.core 2>said || true
	[ "$(cat precious)" = gold ] && [ ! -e nowhere ] && [ "$(stat -c %a precious)" = 644 ] && cmp -s a.core saved &&
		grep -qE 'exists already|a directory' by_hand/log || { ls -l by_hand; cat by_hand/log; fail "a $kind at its name"; }
done
rm -rf by_hand/*.core
called 0 "began after the crash" $pid $pid 11 1000000000 1 $unlimited
called 0 "is another user's" $pid $pid 11 "$(date +%s)" 1 $unlimited 0 64534 0
called 0 "is another user's" $pid $pid 11 "$(date +%s)" 1 $unlimited 0 0 64534
with_pidfd() { # PID WANTED WHY
	cat >with_pidfd.py <<'PYTHON'
import os, sys
fd = os.pidfd_open(int(sys.argv[1]))
os.set_inheritable(fd, True)
os.execv(sys.argv[2], sys.argv[2:] + [str(fd)])
PYTHON
	local catch="$room/handler"
	printf '#!/bin/bash\nexec python3 %s/with_pidfd.py %s %s "$@"\n' "$room" "$1" "$room/epitaph" >handler
	chmod +x handler
	called "$2" "$3" $pid $pid 11 "$(date +%s)" 1 $unlimited 0 0 0
}
with_pidfd $other 0 "is another process's by now"
with_pidfd $pid 1 "its own pidfd"
# Where there are no access control lists only root may read, and the log says so.
held setpriv --reuid=64534 --regid=64534 --clear-groups "$dies_as"
unshare -m bash -c 'mount -t ramfs none by_hand && cp "$1" by_hand/settings && shift && "$@" <a.core
	stat -c %u:%g:%a by_hand/*.core >mode; cp by_hand/log .' - "$room/settings" "$catch" catch "$room/by_hand" $pid $pid 11 "$(date +%s)" 1 $unlimited 0 64534 64534 \
	2>said || { cat said; fail "no snapshot on a ramfs"; }
[ "$(cat mode)" = 0:0:600 ] && grep -q 'only root may read it: no access control list' log || { cat mode log; fail "a ramfs"; }
# What is to stay free: the oldest goes; when there is none, there is no snapshot.
for full in x.0.1.20010101T000000Z.core ballast; do
	unshare -m bash -c 'mount -t tmpfs -o size=16M,mode=755 none by_hand && cp "$1" by_hand/settings && shift
		sed -i "s/keep-free=.*/keep-free=1000000000/" by_hand/settings
		head -c 15M /dev/zero >by_hand/'$full' && "$@" <a.core; ls by_hand >left; cp by_hand/log . 2>/dev/null || true >log' \
		- "$room/settings" "$catch" catch "$room/by_hand" $pid $pid 11 "$(date +%s)" 1 $unlimited 0 64534 64534 2>said || true
	if [ $full = ballast ]; then
		! grep -q '\.core$' left && grep -q 'no snapshot: less is free' log || { cat left log; fail "a full disk"; }
	else
		[ "$(grep -c '\.core$' left)" -eq 1 ] && ! grep -q '^x\.' left || { cat left log; fail "the oldest does not go"; }
	fi
done
touch go
kill -9 $other && other=
wait || true
rm -f go

# --- access control lists ---

# acl FILE access|default USER: that user may do all there
acl() {
	python3 - "$@" <<'PYTHON'
import os, struct, sys
path, name, user = sys.argv[1:]
rows = (1, 7, -1), (2, 7, int(user)), (4, 5, -1), (16, 7, -1), (32, 5, -1)
os.setxattr(path, "system.posix_acl_" + name, struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *row) for row in rows))
PYTHON
}
# What the folder would give to all that is made in it, a snapshot does not have.
installed core
acl "$store" default 65532
crashes setpriv --reuid=64534 --regid=64534 --clear-groups "$dies_as"
[ -n "$snapshot" ] || { log; fail "no snapshot in a folder with an access control list"; }
reads_only 64534 "$snapshot"
rm -f "$store"/*.core
crashes "$dies_as"
for file in "$store"/*.core "$store/log" "$store/places"; do
	! setpriv --reuid=65532 --regid=65532 --clear-groups cat "$file" >/dev/null 2>&1 || [ ! -e "$file" ] || fail "$file: 65532 may read it"
done
# Links in the place of its own files lead nowhere.
for name in log places; do
	for target in precious nowhere; do
		installed core
		rm -rf precious nowhere "$store/${name:?}"
		echo gold >precious
		ln -s "$room/$target" "$store/$name"
		crashes "$dies_as"
		[ -n "$snapshot" ] && [ "$(cat precious)" = gold ] && [ ! -e nowhere ] || fail "a link in the place of $name: $(cat precious)"
	done
done

# --- whose it is ---

# Another user's one stays, however many there come.
installed core --max-files=4
crashes setpriv --reuid=64534 --regid=64534 --clear-groups "$dies_as"
for _ in 1 2 3 4 5; do crashes "$dies_as"; done
[ "$(echo "$store"/dies_as.64534.*.core | wc -w)" -eq 1 ] && [ "$(ls "$store"/*.core | wc -l)" -eq 4 ] || fail "whose are left: $(ls "$store")"
compgen -G "$store/dies_as.64534.*.core" >/dev/null || fail "another user's is gone: $(ls "$store")"
# By user ids that he has made himself a user is the one that he is.
cat >subordinate.py <<'END'
import ctypes, os, sys
ready, go = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    os.setgroups([]), os.setgid(64533), os.setuid(64533)
    ctypes.CDLL(None).unshare(0x10000000) == 0 or os._exit(1)
    os.write(ready[1], b"x"), os.read(go[0], 1)
    os.setresgid(1, 1, 1), os.setresuid(1, 1, 1)
    os.execv(sys.argv[1], sys.argv[1:])
os.read(ready[0], 1)
for name in "uid", "gid":
    open(f"/proc/{child}/{name}_map", "w").write("0 64533 1\n1 100001 1\n")
os.write(go[1], b"x"), os.waitpid(child, 0)
END
installed core
crashes python3 "$room/subordinate.py" "$dies_as"
[[ $snapshot == "$store/dies_as.64533."* ]] || { ls -l here; log; fail "whose it is: $(ls "$store")"; }
reads_only 100001 "$snapshot"

# A storm of one user's leaves places to others: of eight he has four.
installed "|$room/slow %p" --timeout=200
echo 8 >$limit_file
rm -f go
for _ in 1 2 3 4 5 6; do (ulimit -c unlimited && exec setpriv --reuid=64534 --regid=64534 --clear-groups "$dies_as") >/dev/null 2>&1 & done
many() { [ "$(grep -cs 'dies_as: user 64534 has 4 crashes at once already' "$store/log" || true)" = 2 ]; }
soon many || { log; touch go; fail "the storm is not bounded"; }
(ulimit -c unlimited && exec "$dies_as") >/dev/null 2>&1 &
soon compgen -G "$store/dies_as.0.*.core" >/dev/null || { touch go; fail "another user's crash is left out"; }
touch go
wait || true

# --- whom it believes ---

# A folder that somebody else may write to says nothing, least of all which program root is to start.
printf '#!/bin/bash\ntouch %s/taken\n' "$room" >evil
chmod +x evil
for how in 'chown 64534' 'chmod 777' 'rm' 'list folder' 'list settings'; do
	installed core
	sed -i "s#^previous=.*#previous=|$room/evil#" "$store/settings"
	case $how in
	chown*) chown 64534 "$store/settings" ;;
	chmod*) chmod 777 "$store" ;;
	rm) rm "$store/settings" && chown 64534 "$store" ;;
	'list folder') acl "$store" access 64534 ;;
	'list settings') acl "$store/settings" access 64534 ;;
	esac
	crashes "$dies_as"
	[ ! -e taken ] && ! compgen -G "$store/dies_as.*.core" >/dev/null || fail "$how: what anybody may write is believed: $(ls "$store")"
	status=0
	"$catch" catch >said 2>&1 || status=$?
	[ $status -eq 3 ] && grep -q 'others than root may write there' said || fail "$how: $status, $(cat said)"
done
rm -rf "$store"
mkdir -m 777 above
for at in "$room/above" "$room/above/store"; do
	mkdir -p "$at"
	status=0
	"$catch" catch --install --store="$at" >said 2>&1 || status=$?
	[ $status -eq 3 ] && grep -q "above: others than root may write there" said || fail "installed in $at: $status, $(cat said)"
done

# A long name is a name.
installed core
long=$(printf 'n%.0s' {1..250})
cp "$dies_as" "$long"
(ulimit -c unlimited && exec "./$long") >/dev/null 2>&1 || true
ls "$store" | grep -qE "^n{100}\.0\.[0-9]+\.[0-9TZ]+\.core$" || fail "a long name: $(ls "$store")"
rm -f core
# Nor does a thread's name write the log.
installed /nowhere/core
crashes "$dies_as" name=$'n\e[2J\x9b\nFORGED'
grep -q 'n\\x1b\[2J\\x9b\\x0aFORGED: /nowhere/core: did not take all' "$store/log" || { cat -v "$store/log"; fail "a name in the log"; }
! grep -q '^FORGED' "$store/log" || fail "a line of the log is forged"

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph catch --listen, by real crashes through the real core_pattern, in both of its socket forms: the snapshot is that of
# the core, which goes on as before. Clients that do not crash, stall, or are somebody else's, two crashes at once, and a server
# that is killed: no process hangs for it.
# sanitized only
# alone
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"
# A kernel that does not send cores to sockets (before 6.16): a clear word, and nothing else to test.
if ! printf '@%s\n' "$socket" >$pattern_file 2>/dev/null; then
	status=0
	"$catch" catch --listen="$socket" 2>said || status=$?
	[ $status -eq 3 ] && grep -q 'since 6.16' said || fail "an old kernel: $status, $(cat said)"
	exit 0
fi
printf '%s\n' "$pattern_before" >$pattern_file

# Nobody listens: it is not installed, as crashes would leave nothing.
status=0
"$catch" catch --install --listen="$socket" --store="$store" 2>said || status=$?
[ $status -eq 3 ] && grep -q 'nobody listens' said && [ "$(cat $pattern_file)" = "$pattern_before" ] ||
	fail "installed without a server: $status, $(cat said)"
for bad in relative /up/../there "/$(printf 'x%.0s' {1..120})"; do
	status=0
	"$catch" catch --listen="$bad" --store="$store" 2>said || status=$?
	[ $status -eq 64 ] || fail "--listen=$bad: $status"
done

start
[ "$(stat -c %a "$socket")" = 700 ] || fail "others may connect: $(stat -c %a "$socket")"
status=0
"$catch" catch --listen="$socket" --store="$store" 2>said || status=$?
[ $status -eq 3 ] && grep -q 'somebody listens' said || fail "two servers: $status, $(cat said)"

# Both forms, all ways to die; the core goes on to a file.
for form in @ @@; do
	printf '%s%s\n' "$form" "$socket" >$pattern_file 2>/dev/null || continue
	for how in null abort overflow 'null thread'; do
		installed core --listen="$socket"
		printf '%s%s\n' "$form" "$socket" >$pattern_file
		dies "$how"
		[ -f here/core ] || { cat "$store/log"; fail "$form $how: no core"; }
		snapshot_is_of here/core
	done
done
"$EPITAPH" report "$snapshot" >report || [ $? -eq 1 ]
grep -q 'SIGSEGV' report || fail "no report of the snapshot"
"$catch" catch --store="$store" >said
grep -q "by the socket $socket, which is served" said || fail "$(cat said)"
# Of a socket the store tells whose it is.
"$EPITAPH" doctor ./deaths >said || true
grep -q "cores go to the socket $socket\$" said || fail "doctor: $(cat said)"
prlimit --core=0 "$EPITAPH" doctor --store="$store" ./deaths >said || [ $? -eq 1 ]
grep -q "^ok .*epitaph catch takes a snapshot of each crash, at the socket $socket\$" said || fail "doctor: $(cat said)"

# As the pipe's: words of patterns, users, ulimit -c 0, a program that comes next.
installed "$room/here/%e-%p-%s" --listen="$socket"
dies null
[ -f here/deaths-*-11 ] || fail "the pattern's words: $(ls here)"
snapshot_is_of here/deaths-*-11
installed core --listen="$socket"
dies null setpriv --reuid=65534 --regid=65534 --clear-groups
[ "$(stat -c %u:%a here/core)" = 65534:600 ] || fail "the core is of $(stat -c %u:%a here/core)"
reads_only 65534 "$snapshot"
installed core --listen="$socket"
rm -rf here && mkdir here
(cd here && ulimit -c 0 && exec ../deaths null) >/dev/null 2>&1 || true
[ ! -e here/core ] && compgen -G "$store/deaths.*.core" >/dev/null || fail "ulimit -c 0: $(ls here "$store")"
printf '#!/bin/bash\necho "$*" >%s/words\ncat >%s/saved\n' "$room" "$room" >saver
chmod +x saver
installed "|$room/saver %s %e %u" --listen="$socket"
dies null
[ "$(cat words)" = "11 deaths 0" ] || fail "its words: $(cat words)"
snapshot_is_of saved

# Who does not crash is turned away at once; who may not connect, does not.
cat >client.py <<'END'
import os, socket, sys, time
peer = socket.socket(socket.AF_UNIX)
if sys.argv[2] == "other":
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    peer.connect(sys.argv[1])
except PermissionError:
    sys.exit(3)
begun = time.monotonic()
peer.settimeout(30)
try:
    if sys.argv[2] == "core":
        peer.sendall(b"\x7fELF" + bytes(4096))
    left = peer.recv(1)
except (ConnectionResetError, BrokenPipeError):
    left = b""
sys.exit(0 if left == b"" and time.monotonic() - begun < 5 else 1)
END
installed core --listen="$socket"
for how in silent core; do python3 client.py "$socket" $how || fail "a client that is $how is not turned away"; done
grep -q 'connected without crashing' "$store/log" || fail "nothing in the log: $(cat "$store/log")"
status=0
python3 client.py "$socket" other || status=$?
[ $status -eq 3 ] || fail "another user may connect"
# One that stays does not keep others waiting.
python3 -c 'import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); time.sleep(60)' "$socket" &
client=$!
dies null
kill $client
snapshot_is_of here/core

# Two, and thirty, at once.
installed "$room/here/%p" --max-files=100 --listen="$socket"
rm -rf here && mkdir here
for _ in $(seq 30); do (ulimit -c unlimited && exec ./deaths abort) >/dev/null 2>&1 & done
wait $(jobs -p | grep -vx "$server") || true
[ "$(ls "$store"/deaths.*.core | wc -l)" = 30 ] && [ "$(ls here | wc -l)" -ge 30 ] ||
	{ cat "$store/log"; fail "of 30 crashes $(ls "$store"/deaths.*.core | wc -l) snapshots, $(ls here | wc -l) cores"; }

# The server is killed while a handler keeps the core waiting: what it was serving goes on. With all of its processes: the crashed
# one goes, too.
printf '#!/bin/bash\n[ -e %s/go ] || { touch %s/begun; sleep 3; }\nexec cat >%s/saved\n' "$room" "$room" "$room" >saver
installed "|$room/saver" --listen="$socket"
rm -f begun saved go
(ulimit -c unlimited && exec ./deaths null) >/dev/null 2>&1 &
crashed=$!
soon test -e begun || fail "the handler was not begun"
kill -9 "$server"
wait "$server" 2>/dev/null || true
wait $crashed 2>/dev/null || true
snapshot=$(ls "$store"/deaths.*.core)
soon test -s saved
snapshot_is_of saved

start
printf '#!/bin/bash\ntouch %s/begun\nexec sleep 100\n' "$room" >saver
rm -f begun
(ulimit -c unlimited && exec ./deaths null) >/dev/null 2>&1 &
crashed=$!
soon test -e begun || fail "the handler was not begun"
begun=$SECONDS
kill -9 -- "-$server"
wait "$server" 2>/dev/null || true
wait $crashed 2>/dev/null || true
[ $((SECONDS - begun)) -lt 15 ] || fail "the crashed process was held for $((SECONDS - begun)) s"

# Nobody listens any more: nothing is held, and it is said.
begun=$SECONDS
dies null
[ $((SECONDS - begun)) -lt 5 ] || fail "a crash without a server takes $((SECONDS - begun)) s"
"$catch" catch --store="$store" >said
grep -q 'nobody listens' said || fail "$(cat said)"
status=0
"$EPITAPH" doctor ./deaths >said || status=$?
[ $status -eq 2 ] && grep -q "the socket $socket, where nobody listens" said || fail "doctor: $status, $(cat said)"
status=0
"$EPITAPH" doctor --store="$store" ./deaths >said || status=$?
[ $status -eq 2 ] && grep -q "epitaph catch is installed at the socket $socket, where nobody listens" said &&
	grep -q "→ .*epitaph catch --listen=$socket --store=$store.*--uninstall --store=$store" said || fail "doctor: $status, $(cat said)"

# A socket that was made by somebody else, as systemd passes it; a server that is told to end takes its own away.
start
stop
[ ! -e "$socket" ] || fail "the socket is left behind"
cat >pass.py <<'END'
import os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(16)
os.dup2(server.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=sys.argv[2])
os.execv(sys.argv[3], sys.argv[3:])
END
setsid python3 pass.py "$socket" 1 "$catch" catch --listen="$socket" --store="$store" &
server=$!
soon served || fail "the passed socket is not served"
installed core --listen="$socket"
dies null
snapshot_is_of here/core
"$catch" catch --uninstall --store="$store" >said
[ "$(cat $pattern_file)" = core ] && [ "$(cat $limit_file)" = 0 ] || fail "not put back: $(cat $pattern_file)"
stop
[ -e "$socket" ] || fail "a socket that is not its own is gone"
rm "$socket"
status=0
python3 pass.py "$socket" 2 "$catch" catch --listen="$socket" --store="$store" 2>said || status=$?
[ $status -eq 64 ] && grep -q 'one socket that listens' said || fail "two descriptors: $status, $(cat said)"
exit 0

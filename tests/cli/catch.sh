#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph catch as the kernel's real handler: the snapshot is the one that extract takes of the core, and the core goes on as
# before, to a file, a program, a socket; missing, slow and dying ones, no room, limits and other users do not cost it.
# sanitized only
# alone
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"

# Not installed: said; nothing is changed.
status=0
"$catch" catch >said || status=$?
[ $status -eq 2 ] && grep -q 'not installed' said || fail "status when not installed: $status"
status=0
"$catch" catch --uninstall 2>said || status=$?
[ $status -eq 2 ] && [ "$(cat $pattern_file)" = "$pattern_before" ] || fail "uninstall when not installed: $status"

# To a file, as the kernel would have written it; through all ways to die.
installed core
for how in null abort overflow 'null thread'; do
	rm -rf "$store"/*.core here && mkdir here
	# shellcheck disable=SC2086
	(cd here && ulimit -c unlimited && exec ../deaths $how) >/dev/null 2>&1 || true
	snapshot=$(ls "$store"/deaths.*.core)
	[ -f here/core ] || fail "$how: no core"
	snapshot_is_of here/core
	gdb -nx -batch -iex 'set debuginfod enabled off' -ex bt ./deaths here/core >bt 2>&1
	grep -q '^#0' bt || { cat bt; fail "$how: gdb cannot read the core"; }
done
"$EPITAPH" report "$snapshot" >report || [ $? -eq 1 ]
grep -q 'SIGSEGV' report || fail "no report of the snapshot"
# It knows when the process died, and the core does not: what it waited before is known.
"$EPITAPH" report --json "$snapshot" | grep -q '"silence":{"source":"catch","at_least_ns":\([0-9]*\),"at_most_ns":\1}' ||
	fail "no time of death: $("$EPITAPH" report "$snapshot")"
"$catch" list "$store" >list
grep -qE "SIGSEGV .*$store/deaths\.0\.[0-9]+\.[0-9TZ]+\.core$" list || { cat list; fail "list"; }
"$catch" catch >said
grep -q "holds 1 snapshots" said || fail "$(cat said)"

# Another pattern for a file; no core where the limit says so, but a snapshot.
installed "$room/here/%e-%p-%s"
dies null
[ -f here/deaths-*-11 ] || fail "the pattern's words: $(ls here)"
snapshot_is_of here/deaths-*-11
installed core
rm -rf here "$store"/*.core && mkdir here
(cd here && ulimit -c 0 && exec ../deaths null) >/dev/null 2>&1 || true
[ ! -e here/core ] || fail "a core in spite of ulimit -c 0"
ls "$store"/*.core >/dev/null || fail "ulimit -c 0 has cost the snapshot"

# Another user: the snapshot is his; where he may not write, there is no core, and the snapshot all the same.
installed core
dies null setpriv --reuid=65534 --regid=65534 --clear-groups
[ "$(stat -c %u:%a here/core)" = 65534:600 ] || fail "the core is of $(stat -c %u:%a here/core)"
reads_only 65534 "$snapshot"
rm -rf "$store"/*.core here && mkdir -m 755 here
(cd here && ulimit -c unlimited && exec setpriv --reuid=65534 --regid=65534 --clear-groups ../deaths null) >/dev/null 2>&1 || true
[ ! -e here/core ] && ls "$store"/*.core >/dev/null || fail "a folder of root's"
grep -q 'did not take all of the core' "$store/log" || fail "nothing in the log"

# To a program: all of the stream, and its words.
cat >saver <<END
#!/bin/bash
echo "\$*" >$room/words
cat >$room/saved
END
chmod +x saver
installed "|$room/saver %s %e %u"
dies null
[ "$(cat words)" = "11 deaths 0" ] || fail "its words: $(cat words)"
snapshot_is_of saved
# It does not wait for the snapshot: here that process waits until somebody opens its log, which is when all of the core is there.
# Where the kernel would not hold the process to the end, the snapshot comes first.
for limit in 64 0; do
	installed "|$room/saver"
	echo $limit >$limit_file
	mkfifo "$store/log"
	rm -f saved
	(ulimit -c unlimited && exec bash -c 'kill -SEGV $$') >/dev/null 2>&1 &
	[ $limit -eq 0 ] || soon test -s saved || fail "the stream waits for the snapshot"
	exec 7<>"$store/log"
	read -r -t 60 logged <&7 || fail "core_pipe_limit $limit: nothing in the log"
	wait $! || true
	exec 7>&-
	[[ $logged == *'no trace: '* ]] || fail "core_pipe_limit $limit: $logged"
	soon readelf -hW saved >/dev/null || fail "core_pipe_limit $limit: no core"
	rm "$store/log"
	dies null
	[ -n "$snapshot" ] && "$EPITAPH" report "$snapshot" >/dev/null || fail "core_pipe_limit $limit: no snapshot"
done
# Missing, dying, slow: the snapshot is whole.
installed "|$room/nobody %p"
dies null
[ -n "$snapshot" ] && "$EPITAPH" report "$snapshot" >/dev/null || fail "a missing handler has cost the snapshot"
printf '#!/bin/bash\nhead -c 10000 >/dev/null; kill -9 $$\n' >saver
installed "|$room/saver"
dies null
[ -n "$snapshot" ] && "$EPITAPH" report "$snapshot" >/dev/null || fail "a dying handler has cost the snapshot"
printf '#!/bin/bash\nexec sleep 100\n' >saver
installed "|$room/saver" --timeout=1
begun=$SECONDS
dies null
[ -n "$snapshot" ] && "$EPITAPH" report "$snapshot" >/dev/null || fail "a slow handler has cost the snapshot"
[ $((SECONDS - begun)) -lt 30 ] || fail "a slow handler was waited for"
grep -q 'nothing moved' "$store/log" || { cat "$store/log"; fail "a slow handler is not in the log"; }

# To a socket: plain, and with the kernel's questions.
cat >server.py <<'END'
import os, socket, struct, sys
path, asks, out = sys.argv[1], sys.argv[2] == "asks", sys.argv[3]
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen(1)
print("ready", flush=True)
peer, _ = server.accept()
if asks:
    size, = struct.unpack("<I", peer.recv(4, socket.MSG_PEEK))
    request = peer.recv(size)
    peer.sendall(struct.pack("<IIQ", 16, 0, 1 | 8))
    assert struct.unpack("<I", peer.recv(4))[0] == 0
with open(out, "wb") as file:
    while data := peer.recv(1 << 20):
        file.write(data)
END
for kind in plain asks; do
	rm -f "$room/socket" ready saved && mkfifo ready
	python3 server.py "$room/socket" $kind "$room/saved" >ready &
	read -r _ <ready
	at=@
	[ $kind = plain ] || at=@@
	# A kernel that has no sockets here (before 6.16) says so.
	printf '%s\n' "$at$room/socket" >$pattern_file 2>/dev/null || { kill $!; break; }
	installed "$at$room/socket"
	dies null
	wait $!
	snapshot_is_of saved
done

# A program that is not traced: its core, as ever, and a line in the log.
installed core
rm -rf here && mkdir here
(cd here && ulimit -c unlimited && exec bash -c 'kill -SEGV $$') >/dev/null 2>&1 || true
[ -f here/core ] && ! ls "$store"/*.core 2>/dev/null || fail "an untraced program"
grep -q 'no trace: ' "$store/log" || { cat "$store/log"; fail "an untraced program is not in the log"; }

# What is to be left out is not in the snapshot, nor in its name; the core goes on whole. The secrets are those of extract-redacted.
source "$TOP/tests/cli/lib/secrets.bash"
say() { fail "$*"; }
build_secrets
chmod 777 "Cwd$tail"
for words in all cmdline,paths,notes; do
	installed core --redact="$words" --no-stacks
	rm -f "Cwd$tail"/core
	{ (ulimit -c unlimited && run_secrets) >/dev/null 2>&1 || true; } 2>/dev/null
	left=
	[ $words = all ] || left=Gpr
	# Others may crash meanwhile.
	tells "$(echo "$store/snapshot.0.$(cat pid)".*.core)" "$left" "the snapshot by $words"
	! compgen -G "$store/Prg*" >/dev/null || fail "$(ls "$store")"
done
tells "Cwd$tail/core" "$main" "the core that went on"
status=0
"$catch" catch --install --store="$store" --redact=words 2>said || status=$?
[ $status -eq 64 ] && grep -q 'cmdline, paths, notes' said || fail "--redact=words: $status, $(cat said)"

# Of many the latest; two at once.
installed core --max-files=2
for _ in 1 2 3; do dies null; done
for _ in 1 2; do (mkdir -p here."$BASHPID" && cd here."$BASHPID" && ulimit -c unlimited && exec ../deaths abort) >/dev/null 2>&1 & done
wait || true
[ "$(ls "$store"/*.core | wc -l)" -eq 2 ] || fail "--max-files=2: $(ls "$store")"
for file in "$store"/*.core; do
	"$EPITAPH" report --signature "$file" | grep -q SIGABRT || fail "the latest are not kept"
done

# Installed twice it remembers what was there first; and puts it back.
"$catch" catch --install --store="$store" >said
"$catch" catch --uninstall >said
[ "$(cat $pattern_file)" = core ] && [ "$(cat $limit_file)" = 0 ] || fail "not put back: $(cat $pattern_file)"

# What the kernel would not say.
status=0
"$catch" catch "$store" 1 2 x 4 5 6 </dev/null 2>said || status=$?
[ $status -eq 64 ] || fail "words that are none: $status"
status=0
"$catch" catch --install --store=relative 2>said || status=$?
[ $status -eq 64 ] || fail "a relative store: $status"

# SPDX-License-Identifier: BSD-2-Clause
# catch.bash: the kernel's real core_pattern, for tests that source this (they are "# alone"): for root only (else the test is skipped),
# and put back at the end. They are in $room then, which others may enter, with a "deaths" and the epitaph that the kernel starts.
. "$TOP/tests/cli/lib/core.bash"

pattern_file=/proc/sys/kernel/core_pattern
limit_file=/proc/sys/kernel/core_pipe_limit
[ "$(id -u)" -eq 0 ] && [ -w $pattern_file ] || { echo "only root may set kernel.core_pattern"; exit 77; }
pattern_before=$(cat $pattern_file) limit_before=$(cat $limit_file)
# With a short name: core_pattern has 127 bytes.
room=$(mktemp -d "${TMPDIR:-/tmp}/epc.XXXXXX")
server= # its process group, if there is one
put_back() {
	printf '%s\n' "$pattern_before" >$pattern_file
	echo "$limit_before" >$limit_file
	# Who waits there to write a line goes on.
	[ ! -p "$store/log" ] || exec 7<>"$store/log"
	[ -z "$server" ] || kill -9 -- "-$server" 2>/dev/null || true
	rm -rf "$room"
}
trap put_back EXIT
trap 'exit 130' INT TERM
chmod 755 "$room"
# Not the sanitized one: its address space is no measure.
cp "$BIN/epitaph" "$room/epitaph"
catch=$room/epitaph store=$room/store
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/deaths.c" -o "$room/deaths" -lpthread
cd "$room"

socket=$room/socket
served() { python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$socket" 2>/dev/null; }
start() { # [COMMAND...]: the server, in a process group of its own
	setsid "$@" "$catch" catch --listen="$socket" --store="$store" &
	server=$!
	soon served || fail "the server does not listen"
}
stop() {
	kill "$server"
	wait "$server" || fail "the server ends with $?"
	server=
}
log() { cat "$store/log" 2>/dev/null || echo "no log"; }
installed() { # PREVIOUS [OPTIONS...]: our handler in front of it, as a program; at $socket with --listen among the options
	local previous=$1
	shift
	printf '%s\n' "$previous" >$pattern_file
	echo 0 >$limit_file
	# A process of a server's may be writing its last line.
	soon rm -rf "$store" 2>/dev/null
	# However full the disk is.
	[[ "$*" == *--keep-free* ]] || set -- --keep-free=1 "$@"
	"$catch" catch --install --store="$store" "$@" >said
	grep -qE "^(\|$catch catch $store |\|$room/lib/epitaph/catch $store |@@?$room/socket\$)" $pattern_file || fail "not installed: $(cat $pattern_file)"
}
dies() { # HOW [COMMAND...]: its core is in here, its snapshot, the latest, is then "snapshot"; there may be none
	local how=$1
	shift
	rm -rf here && mkdir -m 777 here
	# shellcheck disable=SC2086
	(cd here && ulimit -c unlimited && exec "$@" "$room/deaths" $how) >/dev/null 2>&1 || true
	# shellcheck disable=SC2012
	snapshot=$(ls -t "$store"/deaths.*.core 2>/dev/null | head -n 1) || true
}
reads_only() { # USER FILE: a file of root's that he can read, and nobody else; nor can he change it
	local as=(setpriv --regid=65534 --clear-groups)
	[ "$(stat -c %u:%g "$2")" = 0:0 ] || fail "$2 is of $(stat -c %u:%g "$2")"
	"${as[@]}" --reuid="$1" cat "$2" >/dev/null || fail "$2: $1 may not read it"
	! "${as[@]}" --reuid="$1" truncate -s 1 "$2" 2>/dev/null || fail "$2: $1 may write to it"
	! "${as[@]}" --reuid="$1" touch -d 2001-01-01 "$2" 2>/dev/null || fail "$2: $1 may date it"
	! "${as[@]}" --reuid=65531 cat "$2" >/dev/null 2>&1 || fail "$2: others may read it"
}
only_root_reads() { # FILE [USER]
	[ "$(stat -c %u:%g:%a "$1")" = 0:0:600 ] || fail "$1 is of $(stat -c %u:%g:%a "$1")"
	! setpriv --reuid="${2:-64534}" --regid=65534 --clear-groups cat "$1" >/dev/null 2>&1 || fail "$1: ${2:-64534} may read it"
}
without_end() { # FILE: but for when its process ended, which only the handler knows, and when the core's file was
# written, which it does not: ns since 1970, in the snapshot's note.
	python3 - "$1" <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b"EPITAPH\0") + 8
assert int.from_bytes(data[at + 4:at + 8], "little") == 96
data[at + 80:at + 96] = bytes(16)
sys.stdout.buffer.write(data)
PYTHON
}
snapshot_is_of() { # CORE
	[ -n "$snapshot" ] || { cat "$store/log" || true; fail "no snapshot"; }
	rm -f wanted
	"$EPITAPH" extract -q -o wanted "$1" || [ $? -eq 1 ]
	cmp <(without_end wanted) <(without_end "$snapshot") || fail "the snapshot is not that of the core"
}
hold_crashes() { # the handler in front of one, "slow", that gets crashes which are held until there is a file "go"
	printf '#!/bin/bash\ncat >%s/held.$1\ntouch %s/begun.$1\nwhile [ -e %s/slow ] && [ ! -e %s/go ]; do sleep 0.05; done\n' "$room" "$room" "$room" "$room" >slow
	chmod +x slow
	installed "|$room/slow %p" --timeout=200
	rm -f go
}
# held COMMAND...: crashes, and is held while we look at it: "pid", and its core
held() {
	(ulimit -c unlimited && exec "$@") >/dev/null 2>&1 &
	pid=$!
	soon test -e begun.$pid || fail "the handler was not begun"
	mv held.$pid a.core
}

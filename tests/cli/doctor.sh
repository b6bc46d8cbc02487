#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph doctor foretells what a crash leaves: under each condition the program is really crashed, and what comes out of its core
# (or does not) is what was said. Programs, running processes, JSON.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"
[[ $(cat /proc/sys/kernel/core_pattern) == core ]] || { echo "kernel.core_pattern is not core"; exit 77; }

export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}disable_coredump=0 # which sets RLIMIT_CORE otherwise

"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/deaths.c" -o deaths -lpthread
gcc -O1 -g "$TOP/tests/programs/deaths.c" -w -o untraced -lpthread 2>/dev/null || gcc -O1 -x c -o untraced - <<<'int main(void) { __builtin_trap(); }'

# foretells STATUS WORDS WHAT COMMAND...: doctor's status and a finding, under that command (env, prlimit …); then the truth: 2 leaves
# no trace, 0 and 1 leave one.
foretells() {
	local want=$1 words=$2 what=$3 status=0 truth=0
	shift 3
	"$@" "$EPITAPH" doctor "$what" >out 2>err || status=$?
	[ $status -eq "$want" ] || { cat out err; fail "$* $what: doctor ends with $status, not $want"; }
	grep -qF -- "$words" out || { cat out; fail "$* $what: no \"$words\""; }
	rm -f core core.*
	("$@" "$what" null) >/dev/null 2>&1 || true
	"$EPITAPH" replay core >calls 2>err || truth=$?
	[ $truth -le 1 ] || truth=2
	[ $((want == 2)) -eq $((truth == 2)) ] || { cat out err; fail "$* $what: doctor says $want, the core says $truth"; }
}
ulimit -c unlimited
foretells 0 'would leave a trace.' "$PWD/deaths" env
foretells 2 'it is not traced' "$PWD/untraced" env
foretells 2 'RLIMIT_CORE is 0 bytes' "$PWD/deaths" prlimit --core=0
foretells 1 'RLIMIT_CORE is 30 MiB' "$PWD/deaths" prlimit --core=31457280
foretells 2 'private memory, and so the trace' "$PWD/deaths" bash -c 'echo 0x32 >/proc/self/coredump_filter; exec "$@"' bash
foretells 2 'EPITAPH=off' "$PWD/deaths" env EPITAPH=off
strip -o stripped deaths
foretells 1 'the program is stripped' "$PWD/stripped" env
objcopy --strip-debug --remove-section=.note.gnu.build-id deaths nobuildid
foretells 1 'no build-id' "$PWD/nobuildid" env

# Another way out, where there is no core.
status=0
EPITAPH_FILE=$PWD/trace prlimit --core=0 "$EPITAPH" doctor ./deaths >out || status=$?
[ $status -eq 1 ] && grep -q 'EPITAPH_FILE' out || { cat out; fail "EPITAPH_FILE: $status"; }
(EPITAPH_FILE=$PWD/trace prlimit --core=0 ./deaths null) >/dev/null 2>&1 || true
"$EPITAPH" replay trace >calls 2>err || [ $? -eq 1 ]
grep -q die_null calls || fail "EPITAPH_FILE has left nothing"

# No room, and a folder that cannot be written to.
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=32k none small 2>/dev/null; then
	trap 'umount small' EXIT
	cp deaths /tmp/deaths.$$ && trap 'umount small; rm -f /tmp/deaths.$$' EXIT
	(cd small && foretells 2 'no room where the core would go' /tmp/deaths.$$ env) || exit 1
	mkdir -m 755 roots
	chmod 755 . && cp deaths roots/
	status=0
	(cd roots && setpriv --reuid=65534 --regid=65534 --clear-groups "$BIN/epitaph" doctor /tmp/deaths.$$) >out 2>err || status=$?
	[ $status -eq 2 ] && grep -q 'cannot be written to' out || { cat out err; fail "a folder of root's: $status"; }
fi

# Running processes: as they are, whatever our own limits.
cat >waits.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int count, char **words)
{
	if (count > 1 && !strcmp(words[1], "hidden"))
		prctl(PR_SET_DUMPABLE, 0);
	puts("ready");
	fflush(stdout);
	pause();
}
END
"$BIN/epitaph-cc" -O1 -g waits.c -o waits
cp waits /tmp/waits.$$
trap 'umount small 2>/dev/null || true; rm -f /tmp/deaths.$$ /tmp/waits.$$; kill -9 $pid 2>/dev/null || true' EXIT
pid=
runs() { # STATUS WORDS COMMAND...: the status and a finding of the process that it becomes
	local want=$1 words=$2 status=0
	shift 2
	rm -f ready && mkfifo ready
	"$@" >ready &
	pid=$!
	read -r _ <ready
	"$EPITAPH" doctor "$pid" >out 2>err || status=$?
	kill -9 "$pid"
	wait "$pid" 2>/dev/null || true
	[ $status -eq "$want" ] || { cat out err; fail "$*: doctor ends with $status, not $want"; }
	grep -qF -- "$words" out || { cat out; fail "$*: no \"$words\""; }
}
runs 0 'the process is traced' /tmp/waits.$$
runs 2 'RLIMIT_CORE is 0 bytes' prlimit --core=0 /tmp/waits.$$
runs 2 'tracing is paused' env EPITAPH=off /tmp/waits.$$
runs 2 'no trace in its memory' bash -c 'echo; exec sleep 100'
if [ "$(id -u)" -eq 0 ]; then
	runs 2 'not dumpable' setpriv --reuid=65534 --regid=65534 --clear-groups /tmp/waits.$$ hidden
	runs 1 'runs in a container' unshare --mount /tmp/waits.$$
fi

# Sanitizers leave no core by their defaults; what doctor advises makes them leave one.
cat >shy.c <<'EOF'
int main(void) { *(volatile int *)0 = 1; }
EOF
for kind in address:ASAN thread:TSAN; do
	gcc -g -fsanitize=${kind%:*} shy.c -o shy 2>/dev/null || { echo "gcc has no -fsanitize=${kind%:*} here"; continue; }
	rm -rf crash && mkdir crash
	(cd crash && ulimit -c unlimited && exec ../shy) >/dev/null 2>&1 || true
	[ -z "$(ls crash)" ] || fail "$kind left a core: $(ls crash)"
	"$EPITAPH" doctor ./shy >out || true
	advice=$(grep -o "${kind#*:}_OPTIONS=[a-z_0-9=:]*" out) || { cat out; fail "no advice for $kind"; }
	(cd crash && ulimit -c unlimited && exec env "$advice" ../shy) >/dev/null 2>&1 || true
	[ -n "$(ls crash)" ] || fail "$advice leaves no core"
	env "$advice" "$EPITAPH" doctor ./shy >out || true
	grep -q 'is set to leave a core' out || { cat out; fail "$advice is not seen"; }
done

# JSON, and what there is nothing of.
"$EPITAPH" doctor --json ./deaths >out || [ $? -eq 1 ]
python3 -c '
import json
found = json.load(open("out"))
assert {"traced", "core_pattern", "core limit", "filter", "disk", "names", "clock"} <= {f["check"] for f in found}, found
assert all(f["verdict"] in ("ok", "doubt", "lost") and f["text"] for f in found)'
status=0
"$EPITAPH" doctor no-such-program 2>err || status=$?
[ $status -eq 3 ] && grep -q 'no such program in PATH' err || fail "no such program: $status"

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A process belongs to the user that it had when it died, not when it began: of a kernel's core, a snapshot of its own, one of the
# running process, gdb's core, with a trace and without; a set-uid program has had the rights of another.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
[ "$(id -u)" -eq 0 ] || { echo "only root gives its rights up"; exit 77; }
if findmnt -no OPTIONS -T . | grep -w nosuid >/dev/null; then # the bits mean nothing in such a /tmp
	here=$(mktemp -d "$BUILD/owner.XXXXXX")
	trap 'rm -rf "$here"' EXIT
	cd "$here"
fi
chmod 755 .
mkdir -m 777 dies

cat >gives_up.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
__attribute__((noinline)) void work(void) { abort(); }
int main(int count, char **words)
{
	if (strcmp(words[1], "keep") && (setresgid(65534, 65534, 65534) || setresuid(atoi(words[1]), atoi(words[1]), atoi(words[1]))))
		return 9;
	prctl(PR_SET_DUMPABLE, 1);
	if (count > 2) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	work();
}
END
"$BIN/epitaph-cc" -O1 gives_up.c -o traced
gcc -O1 gives_up.c -o untraced
cp traced setuid && chown 65530 setuid && chmod 4755 setuid
cp untraced setuid-untraced && chown 65530 setuid-untraced && chmod 4755 setuid-untraced

# owner FILE TEXT UID START EFFECTIVE: the report in text and JSON; with that status
owner() {
	gives $status "$EPITAPH" report "$1"
	grep -qE "^process +pid [0-9]+, $2(, on .*)?\$" out || say "$1: $(grep ^process out), not $2"
	gives $status "$EPITAPH" report --json "$1"
	python3 -c '
import json, sys
p = json.load(open("out"))["process"]
got = [str(p.get(k, "-")) for k in ("uid", "uid_at_start", "effective_uid_at_start")]
sys.exit(0 if got == sys.argv[2:] else f"{sys.argv[1]}: {got}")' "$1" "${@:3:3}" || say "ids of $1 in JSON"
}
dies() { # WORDS...: its core becomes "core"
	rm -rf dies core && mkdir -m 777 dies
	{ (cd dies && exec "$@") >/dev/null 2>&1 || true; } 2>/dev/null
	mv dies/core* core
}
# blank FILE UID: "blank" is the snapshot as extract PID made it once, with zeroes for the ids
blank() {
	python3 - "$@" <<-'END'
	import struct, sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at = data.index(struct.pack("<III", 5, 136, 3) + b"CORE\0") + 20
	assert struct.unpack_from("<II", data, at + 16) == (int(sys.argv[2]), int(sys.argv[2]))
	data[at + 16:at + 24] = bytes(8)
	open("blank", "wb").write(data)
	END
}
user=(setpriv --reuid=65533 --regid=65533 --clear-groups)

for program in traced untraced; do
	status=0
	[ $program = traced ] || status=1 # the page lacks calls
	dies "$PWD/$program" 65534
	owner core 'uid 65534 \(0 at its start\)' 65534 0 0
	dies "$PWD/$program" keep
	owner core 'uid 0' 0 0 0
	dies "${user[@]}" "$PWD/$program" keep
	owner core 'uid 65533' 65533 65533 65533
done
status=0
# Real 65533 all the time, the rights of 65530 at first; prctl lets it dump.
dies "${user[@]}" "$PWD/setuid" keep
owner core 'uid 65533 \(with the rights of 65530 at its start\)' 65533 65533 65530
gives 0 "$EPITAPH" info core
grep -qE '^process .*, uid 65533 \(with the rights of 65530 at its start\), on ' out || say "info: $(grep ^process out)"
status=1
dies "${user[@]}" "$PWD/setuid-untraced" keep
owner core 'uid 65533 \(with the rights of 65530 at its start\)' 65533 65533 65530

status=0
# Its own snapshot; the running process; a snapshot of it, gdb's core of it.
dies env EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=shot "$PWD/traced" 65534
owner dies/shot 'uid 65534 \(0 at its start\)' 65534 0 0
for program in traced untraced; do
	coproc { exec ./$program 65534 wait 2>/dev/null; }
	pid=$COPROC_PID
	read -r line <&"${COPROC[0]}"
	gcore -o gdb "$pid" >/dev/null 2>&1 || say "gdb takes no core of $program"
	[ $program = traced ] || status=1
	owner "gdb.$pid" 'uid 65534 \(0 at its start\)' 65534 0 0
	if [ $program = traced ]; then
		gives 0 "$EPITAPH" report "$pid"
		grep -qE '^process .*, uid 65534 \(0 at its start\)' out || say "live: $(grep ^process out)"
		gives 0 "$EPITAPH" extract -o live "$pid"
		owner live 'uid 65534 \(0 at its start\)' 65534 0 0
		blank live 65534
	fi
	kill -9 "$pid"
	wait "$pid" 2>/dev/null || true
done
status=0
# Of root's program a zero may be the truth; of another's it is none.
owner blank 'uid 0' 0 0 0
coproc { exec "${user[@]}" ./traced keep wait 2>/dev/null; }
pid=$COPROC_PID
read -r line <&"${COPROC[0]}"
gives 0 "$EPITAPH" extract -o live "$pid"
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
blank live 65533
owner blank 'uid 65533' 65533 65533 65533
exit $((failures != 0))

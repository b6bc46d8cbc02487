#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The runtime's own threads are none of the program's: a core in which the thread that changes code lives, which it does for
# moments only, has no thread of that number in the report, unless it is the one that died.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >two.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_barrier_t there;
static void *other(void *unused)
{
	pthread_barrier_wait(&there);
	for (;;)
		pause();
	return unused;
}
int main(void)
{
	pthread_t one;
	pthread_barrier_init(&there, NULL, 2);
	pthread_create(&one, NULL, other, NULL);
	pthread_barrier_wait(&there);
	abort();
}
END
# The second thread records nothing, as the runtime's own don't.
"$BIN/epitaph-cc" -g -O1 -finstrument-functions-exclude-function-list=other -epitaph-method=finstrument two.c -o two -lpthread
crash core env EPITAPH_SCHED=off EPITAPH_WATCHDOG= "$PWD/two"

threads() { # FILE: those of its report; the first one died
	"$EPITAPH" report --json --all "$1" >out || [ $? -eq 1 ]
	python3 -c 'import json; print(*(t["tid"] for t in json.load(open("out"))["threads"]))'
}
# name FILE TID: into FILE, in whose arena it stands which thread changes code
name() {
	cp core "$1"
	python3 - "$1" "$2" "$(./offset)" <<'END'
import struct, sys
path, tid, offset = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(path, "r+b") as file:
    data = file.read()
    arenas = [at for at in range(0, len(data), 4096) if data[at:at + 8] == b"EPITARNA"]
    assert len(arenas) == 1, arenas
    assert struct.unpack_from("<I", data, arenas[0] + offset) == (0,)
    file.seek(arenas[0] + offset)
    file.write(struct.pack("<I", tid))
END
}
cat >offset.c <<'END'
#include <stddef.h>
#include <stdio.h>
#include "runtime/format.h"
int main(void) { printf("%zu\n", offsetof(struct ep_arena, changer)); }
END
gcc -I"$TOP" offset.c -o offset

read -r died second rest <<<"$(threads core)"
[ -n "$second" ] && [ -z "$rest" ] || { say "two threads are: $died $second $rest"; exit 1; }
name helped "$second"
[ "$(threads helped)" = "$died" ] || say "the thread that changes code is told: $(threads helped), not $died"
"$EPITAPH" report core >page || true
grep -q "$second" page || { say 'not on the page:'; cat page; }
"$EPITAPH" report helped >page || true
! grep -q "$second" page || { say 'on the page:'; cat page; }
# Who died is told in any case.
name dead "$died"
read -r first rest <<<"$(threads dead)"
[ "$first" = "$died" ] || say "of a death in it: $first $rest"
# What a snapshot of the core has is the same.
"$EPITAPH" extract -o helped.snapshot helped
[ "$(threads helped.snapshot)" = "$died" ] || say "snapshot: $(threads helped.snapshot)"
exit $((failures > 0))

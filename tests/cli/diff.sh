#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph diff: nothing between two runs that did the same, at other addresses and in another build; else the function, the counts,
# and the very call at which two runs part; also when the rings were written over; and what only one of them has.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

cat >two.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define KEPT __attribute__((noinline))
#ifdef MORE
KEPT void not_called(void) { __asm__ volatile(""); }
#endif
KEPT void step(int n) { __asm__ volatile("" : : "r"(n)); }
KEPT void good(void) { __asm__ volatile(""); }
KEPT void bad(void) { __asm__ volatile(""); }
KEPT void nap(int ms)
{
	struct timespec time = {0, ms * 1000000L};

	nanosleep(&time, NULL);
}
KEPT void turn(int n, int odd)
{
	step(n);
	if (n == odd)
		bad();
	else
		good();
}
static void *worker(void *steps)
{
	step((int)(long)steps);
	return NULL;
}
int main(int count, char **words)
{
	int turns = atoi(words[1]), odd = atoi(words[2]), ms = atoi(words[3]);
	pthread_t thread;

	for (int i = 0; i < 10; i++)
		nap(ms);
	for (int i = 0; i < turns; i++)
		turn(i, odd);
	if (count > 4) {
		pthread_create(&thread, NULL, worker, NULL);
		pthread_join(thread, NULL);
	}
	abort();
}
END
"$BIN/epitaph-cc" -O1 two.c -o two -lpthread
mkdir other
"$BIN/epitaph-cc" -O1 -DMORE -no-pie -g two.c -o other/two -lpthread

run() { # CORE PROGRAM ARGUMENTS...
	local core=$1
	shift
	EPITAPH_TIMESTAMP_EVERY=1 crash 134 "$@"
	mv core "$core"
}
differs() { # STATUS A B OPTIONS...: into the file out
	local want=$1 status=0
	shift
	"$EPITAPH" diff "$@" >out 2>err || status=$?
	[ $status -eq "$want" ] || { cat out err; fail "diff $*: status $status, not $want"; }
}
has() {
	grep -qF -- "$1" out || { cat out; fail "no \"$1\""; }
}

run same.1 ./two 100 -1 1
run same.2 ./two 100 -1 1
run same.3 ./other/two 100 -1 1
differs 0 same.1 same.2
has '1 did the same in both'
differs 0 same.1 same.3
differs 0 same.1 same.1 --quiet
[ ! -s out ] || fail "--quiet prints"

# The 71st turn calls something else. Before: main, ten naps, 70 turns of three calls each, then turn, step; with returns.
run odd ./two 100 70 1
differs 1 same.1 odd
has "the same for $((1 + 10 * 2 + 70 * 6 + 1 + 2)) calls and returns, then"
has 'in A good is called by turn'
has 'in B bad is called by turn'
grep -A1 'functions that only B called' out | grep -qE '^ +1 +bad$' || { cat out; fail "bad is B's alone"; }
grep -A1 'calls that differ' out | grep -qE '^ +100 +99 +good$' || { cat out; fail "good: 100 and 99"; }
# A busy machine moves the durations of the shortest calls.
differs 1 same.1 odd --json --moved=1000000
python3 - <<'END'
import json
d = json.load(open("out"))
assert d["format"] == "epitaph-diff" and d["version"] == 1 and d["different"] is True
rows = {f["function"]: f for f in d["functions"]}
assert rows["bad"]["a"] is None and rows["bad"]["b"]["calls"] == 1, rows
assert rows["good"]["a"]["calls"] == 100 and rows["good"]["b"]["calls"] == 99, rows
assert set(rows) == {"bad", "good"}, rows
thread, = d["threads"]
assert thread["result"] == "parted" and thread["next_b"]["function"] == "bad" and thread["next_b"]["what"] == "call", thread
assert thread["next_b"]["inside"] == "turn", thread
END

# One did less: its history ends where the other goes on.
run short ./two 50 -1 1
differs 1 short same.1
has 'in A its history ends there'
has 'in B turn is called by main'

# A nap of 20 ms is no nap of 1 ms, and that alone makes no difference.
run slow ./two 100 -1 20
differs 0 same.1 slow
grep -A3 'durations that moved' out | grep -qE ' nap$' || { cat out; fail "nap has moved"; }
differs 0 same.1 slow --moved=1000000
! grep -q 'durations that moved' out || fail "not by 1000000 per cent"

# A thread that only one has.
run threaded ./two 100 -1 1 thread
differs 1 same.1 threaded
has 'worker'

# Rings written over: the later beginning is found in the other one.
export EPITAPH_RING=64K
run wrapped ./two 5000 -1 1
run wrapped.odd ./two 5000 4990 1
unset EPITAPH_RING
run whole.odd ./two 5000 4990 1
differs 1 wrapped.odd whole.odd
has 'functions that only B called'
has '1 did the same in both'
differs 1 wrapped wrapped.odd
has 'in B bad is called by turn'

# Bad input.
differs 64 same.1
differs 64 same.1 same.2 --limit=0
differs 3 same.1 two.c
grep -q 'two.c' err || fail "which one cannot be read?"
rm -f same.* odd short slow threaded wrapped* whole*

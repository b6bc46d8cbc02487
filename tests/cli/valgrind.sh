#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A traced program under valgrind does what it does without it, however long it runs, and leaves its trace: no thread is made
# there that valgrind does not know.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >slow.c <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) void turn(void) { usleep(10000); }
int main(void)
{
	for (int i = 0; i < 60; i++)
		turn();
	puts("done");
	return 7;
}
END
"$BIN/epitaph-cc" -g -O1 slow.c -o slow

EPITAPH_FILE=$PWD/arena gives 7 valgrind -q --tool=none ./slow
[ "$(cat out)" = done ] && [ ! -s err ] || say "not as without valgrind: $(cat out err)"
turns=$("$BIN/epitaph" replay --format=tsv arena | awk -F'\t' '$1 == "B" && $8 == "turn"' | wc -l)
[ "$turns" = 60 ] || say "$turns calls of turn in the trace, not 60"

# A handler behind an on-crash snapshot gets valgrind's own frame of the signal.
traced delivered delivered
EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=shot gives 7 valgrind -q --tool=none ./delivered returns
has out 'rbx 77'
[ ! -s err ] && [ -s shot ] || say "no snapshot: $(cat err)"

# Scheduling events that were asked for: said in one line that there are none.
EPITAPH_SCHED=perf gives 7 valgrind -q --tool=none ./slow
[ "$(cat out)" = done ] || say "perf: $(cat out)"
[ "$(grep -c '^epitaph: no scheduling events' err)" = 1 ] && [ "$(wc -l <err)" = 1 ] || say "perf: $(cat err)"
exit $((failures > 0))

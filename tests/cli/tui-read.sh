#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What epitaph tui reads for long says how far it is, and is left by q and Ctrl-C: what was on the screen before is there again,
# and what is read later is whole. Other keys that are typed meanwhile are not lost.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/tui.bash"

# Some six million calls, of which the sanitized reader has for seconds.
cat >many.c <<'SRC'
#include <stdlib.h>
#define KEPT __attribute__((noinline))
KEPT void inner(void) { __asm__ volatile(""); }
KEPT void outer(void) { inner(); inner(); __asm__ volatile(""); }
int main(void)
{
	for (int i = 0; i < 2500000; i++)
		outer();
	abort();
}
SRC
"$BIN/epitaph-cc" -O1 many.c -o many
EPITAPH_BUDGET=none EPITAPH_RING=128M EPITAPH_MEMORY=160M crash core "$PWD/many"

terminal 100 12 bash -c 'echo $$ >pid; exec "$@"' - "$EPITAPH" tui core
sees '1 threads' 'many'
# What was typed ahead is obeyed when it is over; q is not, for what it means then.
presses 3
sees 'reading calls: ' '(q leaves off)'
presses q
sees 'left before all was read; 3 reads it anew'
row 1 '^1 threads'
row 3 ' died .*many'
presses 2
sees 'reading calls: '
# What Ctrl-C sends, to it alone: the shell around it would die of it, as a shell of a user's own does not.
kill -INT "$(cat pid)"
sees 'left before all was read'
[ ! -e tui.ended ] || say 'Ctrl-C ended it while it read'

presses 3
sees 'reading calls: '
presses S
sees 'namev'
screen
"$BIN/epitaph" stats --json core | python3 -c '
import json, sys
for f in json.load(sys.stdin)["functions"]:
    print(f["calls"], f["function"])' >stats
has stats outer
while read -r calls name; do
	grep -qE " $calls .* $name" screen || { say "no $calls calls of $name:" && cat screen; }
done <stats
presses Q
ends 0
[ ! -s tui.err ] || say "stderr: $(cat tui.err)"

[ $failures -eq 0 ]

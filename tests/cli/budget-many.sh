# SPDX-License-Identifier: BSD-2-Clause
# More functions that cost too much than there is room to tell of: everything goes off, and status, info and the report say that it
# was for the budget.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
unset EPITAPH_BUDGET
export EPITAPH_SCHED=off EPITAPH_MEMORY=4M

{
	echo '#include <unistd.h>'
	echo 'volatile int total, more = 1;'
	for ((i = 0; i < 1000; i++)); do echo "__attribute__((noinline)) void part$i(int x) { total += x; }"; done
	echo 'int main(void) { alarm(100); while (more) {'
	for ((i = 0; i < 1000; i++)); do echo "part$i($i);"; done
	echo '} return 0; }'
} >many.c
"$BIN/epitaph-cc" -O1 many.c -o many
./many &
pid=$!
trap 'kill $pid 2>/dev/null || true' EXIT
until "$EPITAPH" control $pid status >status && grep -q '^off ' status; do
	kill -0 $pid || { say 'it is over, and nothing went off'; exit 1; }
	sleep 0.05
done
has status ': it cost more than EPITAPH_BUDGET'
"$EPITAPH" info $pid >out
has out ' before the end: it cost more than EPITAPH_BUDGET'
"$EPITAPH" report $pid >out
has out ', as tracing cost too much, and so would have choosing functions (EPITAPH_BUDGET)'
# What has no room to be told of was not switched either.
hasnt out 'switched off and are not listed'
"$EPITAPH" info --json $pid | tr -d ' ' >out
has out '"all_off_for_budget":true'
[ "$failures" -eq 0 ] || exit 1

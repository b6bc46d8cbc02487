#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A stack that overflows somewhere in the hook of an entry, 16 bytes earlier from death to death: the report knows the overflow and
# each call, and says of none that the trace has lost it.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >overflowed.c <<'SRC'
#include <pthread.h>
#include <stdlib.h>
static volatile int sink;
static int deep(int n);
static int (*volatile next)(int) = deep;
static int deep(int n)
{
	volatile char room[ROOM];
	room[0] = (char)n;
	return next(n + 1) + room[0];
}
static void *begin(void *moved)
{
	volatile char *room = __builtin_alloca((size_t)moved);
	room[0] = 1;
	sink = deep(0);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_attr_t small;
	pthread_t thread;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 32 << 10);
	if (argc == 2 && !pthread_create(&thread, &small, begin, (void *)(size_t)atoi(argv[1])))
		pthread_join(thread, NULL);
	return 1;
}
SRC

# overflows METHOD COMPILER ROOM EVERY: a frame of ROOM bytes and a little more; of EVERY 1 all records have a time
overflows() {
	local method=$1 every=$4 in=0
	EPITAPH_CC=$2 "$BIN/epitaph-cc" -epitaph-method="$method" -g -O1 -DROOM="$3" overflowed.c -o "$method" -lpthread
	for ((moved = 16; moved <= $3 + 64; moved += 16)); do
		EPITAPH_SCHED=off EPITAPH_TIMESTAMP_EVERY=$every crash core.over "$PWD/$method" $moved
		"$EPITAPH" report --all core.over >page || true
		has page 'stack overflow, likely'
		hasnt page 'trace lost'
		! grep -qE '^  #1 +deep.*\[its hook had not run yet\]' page || in=$((in + 1))
	done
	[ $in -gt 0 ] || [ "$method" = finstrument ] || say "$method, every $every: no death in a hook"
}
overflows pg gcc 48 1
if command -v clang >/dev/null; then
	overflows xray clang 48 1
	overflows xray clang 48 64
fi
overflows finstrument gcc 48 1
exit $((failures != 0))

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# report --signature: equal crashes have one key, across addresses, hosts' libraries, depths of a recursion, snapshots, and rebuilds
# that change something else; other crashes have another. Also where the stack is gone and only the trace knows.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

cat >many.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))
#ifdef MORE
KEPT int unrelated(int n) { return n * 3 + getpid(); }
#endif

KEPT void fall(volatile int *where) { *where = 1; }
KEPT void other(volatile int *where) { *where = 2; }
/* Its return address is gone, and all of the stack above it. */
KEPT void smash(int n)
{
	char small[16];

	memset(small, 'A', 3000 + 0 * n);
	__asm__ volatile("" : : "r"(small) : "memory");
}
KEPT int deep(int n, int way)
{
	if (n)
		return deep(n - 1, way) + 1;
	if (way == 1)
		fall((int *)8);
	if (way == 2)
		other((int *)16);
	if (way == 3)
		smash(n);
	if (way == 4)
		abort();
	return way;
}
KEPT int serve(int depth, int way)
{
	return deep(depth, way) + 1;
}
int main(int count, char **words)
{
	char room[4000];

	memset(room, 0, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	(void)count;
#ifdef MORE
	unrelated(3);
#endif
	return serve(atoi(words[2]), atoi(words[1]));
}
END
build() { # NAME FLAGS...
	local name=$1
	shift
	"$BIN/epitaph-cc" -O1 -w -fno-stack-protector -fno-optimize-sibling-calls "$@" many.c -o "$name"
}

key() { # STATUS PROGRAM ARGUMENTS...: its crash's line
	local status=$1
	shift
	crash "$status" "$@"
	"$EPITAPH" report --signature core || [ $? -eq 1 ]
}

build first
build second -DMORE -no-pie -g
build third -static
fall=$(key 139 ./first 1 3)
[[ $fall == SIGSEGV-????????????????" fall < deep < serve < main" ]] || fail "the line is $fall"
for other in "./first 1 3" "./first 1 40" "./second 1 3" "./third 1 9"; do
	# shellcheck disable=SC2086
	same=$(key 139 $other)
	[ "$same" = "$fall" ] || fail "$other: $same, not $fall"
done
"$EPITAPH" extract -q -o small core
[ "$("$EPITAPH" report --signature small)" = "$fall" ] || fail "a snapshot has another key"

# Another function, another signal: another key.
[[ $(key 139 ./first 2 3) == SIGSEGV-*" other < deep < serve < main" ]] || fail "other"
died=$(key 134 ./first 4 3)
[[ $died == SIGABRT-*" deep < serve < main" ]] || fail "abort: $died"
[ "$({ key 139 ./first 2 3; echo "$fall"; echo "$died"; } | cut -d' ' -f1 | sort -u | wc -l)" -eq 3 ] ||
	fail "three crashes, but not three keys"

# No stack is left: gdb sees no caller, the trace has them all.
smashed=$(key 139 ./first 3 3)
gdb -nx -batch -iex 'set debuginfod enabled off' -ex bt ./first core >bt 2>&1
! grep -q serve bt || fail "the stack is not smashed: this test tests nothing"
[[ $smashed == SIGSEGV-*" smash < deep < serve < main" ]] || fail "smashed: $smashed"
[ "$(key 139 ./second 3 17)" = "$smashed" ] || fail "smashed, rebuilt: another key"

# A process that did not die has none.
mkfifo ready
bash -c 'echo; exec sleep 60' >ready &
sleeper=$!
read -r _ <ready
status=0
"$EPITAPH" report --signature pid:$sleeper >out 2>said || status=$?
kill -9 $sleeper
[ $status -eq 2 ] && [ ! -s out ] || { cat out said; fail "a living process: status $status"; }

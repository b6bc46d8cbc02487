#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that give up system calls (seccomp) or the processor's time (PR_SET_TSC) live as they do untraced, while traced and while
# counted; what was recorded until then is there.
# sanitized only
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

gcc -O1 -w "$TOP/tests/programs/timeless.c" -o plain -lpthread
"$BIN/epitaph-cc" -O1 -w "$TOP/tests/programs/timeless.c" -o traced -lpthread
"$BIN/epitaph-cc" -O1 -w -static "$TOP/tests/programs/timeless.c" -o traced-static -lpthread
"$BIN/epitaph-cc" -O1 -w -epitaph-runtime=shared "$TOP/tests/programs/timeless.c" -o traced-shared -lpthread
for how in tsc strict strict-call filter trap threads; do
	./plain $how >wanted || fail "untraced, $how: $?"
	for program in traced traced-static traced-shared; do
		for mode in trace count; do
			rm -f counts
			EPITAPH_MODE=$mode EPITAPH_OUTPUT=counts ./$program $how >out || fail "$program, $how, $mode: status $?"
			cmp wanted out || fail "$program, $how, $mode: $(cat out)"
			[ $mode = trace ] || [ -s counts ] || fail "$program, $how: what was counted before is lost"
		done
	done
done

# A filter that was there before: what only debuggers call is not called.
as=()
[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod 755 .
for program in traced traced-static traced-shared; do
	"${as[@]}" ./plain list ./$program lives >out || fail "$program, under a list: status $?"
	[ "$(cat out)" = alive ] || fail "$program, under a list: $(cat out)"
done

# Under a filter of its own a thread goes on recording.
crash 139 ./traced dies
"$EPITAPH" stats --csv core >stats || [ $? -eq 1 ]
grep -q '^"work","traced",0x[0-9a-f]*,33000,' stats || fail "after the filter nothing is recorded: $(cat stats)"
# Of one that gave up the time, what came before is there, and why there is no more.
crash 139 ./traced tsc-dies
"$EPITAPH" report core >page || [ $? -eq 1 ]
grep -q "the program gave up reading the processor's time" page || fail "the report: $(cat page)"
"$EPITAPH" stats --csv core >stats || [ $? -eq 1 ]
grep -q '^"work","traced",0x[0-9a-f]*,3000,' stats || fail "before: $(cat stats)"

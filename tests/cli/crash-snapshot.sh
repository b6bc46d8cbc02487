#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# EPITAPH_ON_CRASH=snapshot: whatever a program dies of, it leaves a snapshot with the stack of the thread that crashed, and dies
# as it does without: of the same signal, with the same core, its own handlers having run.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

traced crashes crashes
traced crashes static -static
traced crashes shared -epitaph-runtime=shared
ulimit -S -c 0

# dies PROGRAM HOW STATUS SNAPSHOTS: with it and without it
dies() {
	local program=$1 how=$2 status=0
	rm -f shot.*
	{ (exec ./$program $how) >out 2>err || status=$?; } 2>/dev/null
	[ $status -eq $3 ] || say "$program $how without a snapshot: $status, not $3"
	mv out plain
	status=0
	{ (EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=shot.%n exec ./$program $how) >out 2>err || status=$?; } 2>/dev/null
	[ $status -eq $3 ] || say "$program $how: $status, not $3"
	cmp -s plain out || say "$program $how: prints $(cat out)"
	[ ! -s err ] && ! grep wrong out || say "$program $how: $(cat out err)"
	[ "$(ls shot.* | wc -l)" = $4 ] || say "$program $how: $(ls shot.*)"
	[ -z "$(ls -A | grep part || true)" ] || say "$program $how: left behind $(ls -A)"
}

tells() { # WORDS...: of the first snapshot; its stack may be longer than what is kept
	gives "${status:-0}" "$EPITAPH" report --all shot.1
	for words; do has out "$words"; done
}

# Of its own accord, or in the hook that it begins with, which needs a few bytes below its frame.
overflowed() {
	status=1 tells 'stack overflow, likely' '#2    overflow' '#20   overflow'
	grep -qE '^ *in +#[01] overflow ' out || say "it is in another function: $(grep ' in ' out)"
}

for program in crashes static shared; do
	dies $program segv 139 1
	tells 'SIGSEGV' 'address 0x1234' '#0    segv' '#1    die_by' ' died: last record'
	# Three that it lives on, and one that its handler raises again.
	dies $program own 139 4
	dies $program resethand 134 2
done
dies crashes overflow 139 1
overflowed
dies crashes overflow-thread 139 1
overflowed
dies crashes malloc 134 1
tells 'SIGABRT' 'inside_malloc'
dies crashes trap 132 1
tells 'SIGILL' 'die_by'
dies crashes breakpoint 133 1
tells 'SIGTRAP' 'die_by'
dies crashes fpe 136 1
tells 'SIGFPE' 'FPE_INTDIV' 'die_by'
dies crashes raise 139 1
tells 'SIGSEGV' 'die_by sent it to its own process: raise()'
dies crashes together 139 1
tells "SIGSEGV" "#0    segv" "crash_together"
dies crashes others 139 1
tells '#0    segv' 'registers and stacks of 3 other threads are not in it' 'open calls sit'
gdb -nx -batch -iex 'set debug-file-directory /nonexistent' -ex 'p $_siginfo.si_signo' -ex bt crashes shot.1 >gdb.out 2>&1
has gdb.out '$1 = 11'
grep -q '^#0 .*segv' gdb.out && grep -q '^#1 .*main' gdb.out || say "gdb: $(cat gdb.out)"

# The program's own handler finds itself as without us: in the same frame on the same stack, with the same mask, and what it
# returns to goes on.
gcc -g -O1 "$TOP/tests/programs/delivered.c" -o plain-delivered -lpthread
traced delivered delivered
traced delivered delivered-static -static
delivered() { # STATUS HOW [FLAGS [own [disabled]]]
	local want=$1 program got
	shift
	got=0
	{ ./plain-delivered "$@" >plain || got=$?; } 2>/dev/null
	[ $got -eq "$want" ] || say "delivered $*, untraced: status $got, not $want"
	for program in delivered delivered-static; do
		got=0
		rm -f shot.*
		{ EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=shot.%n ./$program "$@" >out 2>err || got=$?; } 2>/dev/null
		[ $got -eq "$want" ] || say "$program $*: status $got, not $want"
		diff plain out >difference || { say "$program $*: not as untraced:"; cat difference; }
		[ ! -s err ] && [ -s shot.1 ] || say "$program $*: no snapshot: $(cat err)"
	done
}
delivered 7 fault
delivered 7 fault s
delivered 7 fault nr own
delivered 7 fault s own
delivered 7 fault sl own
delivered 7 fault s own disabled
delivered 7 fault t own
delivered 7 fault st
delivered 7 far
delivered 7 far s own
delivered 7 filter
delivered 7 filter n own
delivered 134 abort
delivered 134 abort s own
delivered 139 overflow
delivered 139 overflow s
delivered 7 overflow s own
delivered 0 jumps n
for flags in '' s t; do
	delivered 139 later "$flags"
	[ -s shot.2 ] || say "delivered $flags: no snapshot of an overflow after another signal was handled"
done
for flags in '' s nrt; do
	for own in '' own; do
		delivered 7 returns "$flags" $own
	done
done

# Where the program's stacks are executable, so is ours: a nested function of a handler that runs there has its trampoline on it.
cat >nested.c <<'END'
#include <signal.h>
#include <unistd.h>
static volatile int sum;
__attribute__((noinline)) static void twice(void (*one)(int)) { one(1); one(2); }
static void handler(int number)
{
	void add(int n) { sum += n * number; }
	twice(add);
}
int main(void)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	if (sum == 3 * SIGUSR1)
		*(volatile int *)0x1234 = 1;
	return sum;
}
END
"$BIN/epitaph-cc" -g -O0 nested.c -o nested -Wl,-z,execstack
rm -f shot.*
status=0
{ (EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=shot.%n exec ./nested) >out 2>err || status=$?; } 2>/dev/null
[ $status -eq 139 ] && [ -s shot.1 ] || say "nested: status $status: $(cat err)"
status=0 tells 'address 0x1234' '#0    main'

# The core is the same.
ulimit -S -c unlimited
crash plain.core "$PWD/crashes" segv
EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=$PWD/shot.core crash after.core "$PWD/crashes" segv
for core in plain.core after.core; do
	gdb -nx -batch -iex 'set debug-file-directory /nonexistent' -ex 'p $_siginfo.si_code' -ex 'p $_siginfo._sifields._sigfault.si_addr' -ex 'p $_exitcode' -ex bt \
		-ex 'info threads' crashes $core 2>/dev/null | grep -E '^\$|^#' | sed -E 's/0x[0-9a-f]{8,}//g' >$core.txt
done
diff plain.core.txt after.core.txt || say "the cores differ"
ulimit -S -c 0

# Where it cannot be written: one line, and the same death.
status=0
{ (EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=/no/such/%p exec ./crashes segv) >out 2>err || status=$?; } 2>/dev/null
[ $status -eq 139 ] && grep -qx 'epitaph: no snapshot of the crash: error 2' err || say "status $status: $(cat err)"
exit $((failures > 0))

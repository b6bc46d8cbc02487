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
	gives "${status:-0}" "$EPITAPH" report shot.1
	for words; do has out "$words"; done
}

for program in crashes static shared; do
	dies $program segv 139 1
	tells 'SIGSEGV' 'address 0x1234' '#0    segv' '#1    die_by' ' died: last record'
	# Three that it lives on, and one that its handler raises again.
	dies $program own 139 4
	dies $program resethand 134 2
done
dies crashes overflow 139 1
status=1 tells 'stack overflow, likely' '#0    overflow' '#20   overflow'
dies crashes overflow-thread 139 1
status=1 tells 'stack overflow, likely' '#0    overflow' '#20   overflow'
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
tells '#0    segv' 'registers and stacks of 3 other threads are not in it' 'in flight  sit'
gdb -nx -batch -ex 'p $_siginfo.si_signo' -ex bt crashes shot.1 >gdb.out 2>&1
has gdb.out '$1 = 11'
grep -q '^#0 .*segv' gdb.out && grep -q '^#1 .*main' gdb.out || say "gdb: $(cat gdb.out)"

# The core is the same.
ulimit -S -c unlimited
crash plain.core "$PWD/crashes" segv
EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=$PWD/shot.core crash after.core "$PWD/crashes" segv
for core in plain.core after.core; do
	gdb -nx -batch -ex 'p $_siginfo.si_code' -ex 'p $_siginfo._sifields._sigfault.si_addr' -ex 'p $_exitcode' -ex bt \
		-ex 'info threads' crashes $core 2>/dev/null | grep -E '^\$|^#' | sed -E 's/0x[0-9a-f]{8,}//g' >$core.txt
done
diff plain.core.txt after.core.txt || say "the cores differ"
ulimit -S -c 0

# Where it cannot be written: one line, and the same death.
status=0
{ (EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=/no/such/%p exec ./crashes segv) >out 2>err || status=$?; } 2>/dev/null
[ $status -eq 139 ] && grep -qx 'epitaph: no snapshot of the crash: error 2' err || say "status $status: $(cat err)"
exit $((failures > 0))

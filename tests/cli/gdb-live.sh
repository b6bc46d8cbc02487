#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A live process under gdb gives a snapshot with all threads' registers: its arena is the process's, gdb and eu-stack unwind it as
# they do the process, and the process goes on as if nothing had been.
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
export EPITAPH_SCHED=off EPITAPH_LOOKS=off # a thread of those is one more to gdb
trap 'kill -9 $process 2>/dev/null || true' EXIT
process=

mkdir 'a dir'
traced 'a dir/waiters'
starts 'a dir/waiters'
in_gdb -ex 'epitaph info' -ex 'epitaph threads' -ex 'thread 3' -ex 'epitaph save "a dir/one"' -ex 'echo selected:\n' -ex 'thread' \
	-ex 'generate-core-file full' -p "$process" >out || say "live: $(cat gdb.err)"
grep -Eq '^process +pid '"$process"', ' out || say "live: no process"
[ "$(grep -Ec '^[* ][1-4] +[0-9]+ +waiter(s|-[123]) +live ' out)" -eq 4 ] || say "live: not four threads"
grep -Eq '^a dir/one: .*, arena whole, 4 of 4 stacks$' out || say "live: nothing saved"
sed -n '/^selected:/,$p' out >selected
grep -q 'Current thread is 3 ' selected || say "live: another thread is selected after it"

# gdb's own core of the same moment is the judge of memory and registers.
same_arena full 'a dir/one' || say "live: another arena"
same_frames 'a dir/waiters' full 'a dir/one' || say "live: other frames"
registers() {
	gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set auto-load safe-path /' -ex 'echo all of them:\n' \
		-ex 'thread apply all -q info registers' 'a dir/waiters' "$1" 2>/dev/null | sed -n '/^all of them/,$p' | grep -v '^k[0-7] '
}
# The order of threads is the file's: sorted, as each line but the thread's own is then known by its values.
registers full | grep -E '^(r|e|c|s|d|f|g)' | sort >registers.1
registers 'a dir/one' | grep -E '^(r|e|c|s|d|f|g)' | sort >registers.2
[ "$(grep -c ^rip registers.1)" -eq 4 ] || say "live: gdb tells no registers of four threads"
diff registers.1 registers.2 || say "live: other registers"
notes() { eu-readelf -n "$1" | grep -Eo '^ +CORE +[0-9]+ +[A-Z]+$' | awk '{ print $3 }' | sort | uniq -c; }
diff <(notes full | grep -E 'PRSTATUS|PRPSINFO|AUXV|FILE') <(notes 'a dir/one' | grep -E 'PRSTATUS|PRPSINFO|AUXV|FILE') ||
	say "live: other notes"
eu-readelf -n 'a dir/one' >notes
grep -q 'fname: waiters, psargs: a dir/waiters wait$' notes || say "live: not its command line"

kill -0 "$process" || say "live: the process is gone"
state=$(sed -n 's/^State:[[:space:]]*\([A-Z]\).*/\1/p' "/proc/$process/status")
[ "$state" = S ] || say "live: the process is left in state $state"

# A process that runs is not read.
in_gdb -ex 'set non-stop on' -ex "attach $process" -ex 'continue -a &' -ex 'epitaph save running' -ex detach >out 2>&1 || true
[ ! -e running ] || say "live: a running process was saved"
grep -q 'is running: stop it with' gdb.err || say "live: running: $(cat gdb.err)"
kill -9 "$process"
wait "$process" 2>/dev/null || true

# Started by gdb and stopped by its own signal: the snapshot keeps the signal.
in_gdb -ex 'run abort' -ex 'epitaph save dead' 'a dir/waiters' >out || say "run: $(cat gdb.err)"
eu-readelf -n dead >notes
grep -q '^ *info.si_signo: 6, info.si_code: -6, .* cursig: 6$' notes || say "run: no SIGABRT in the snapshot"
exit $((failures > 0))

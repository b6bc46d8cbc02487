#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# gdb's epitaph report, stack, replay and stats print what the program prints of the core; of a live process too; without the program
# they say what to do; and the commands load by themselves with the installed library.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
trap 'kill -9 $process 2>/dev/null || true' EXIT
process=

# Its own: what another gdb has there at this moment is none of ours.
export TMPDIR=$PWD/tmp
mkdir tmp

traced waiters
crash ./waiters abort waiters.core

same() { # GDB'S COMMAND, OPTIONS OF THE PROGRAM...
	local command=$1 status=0
	shift
	# gdb says how wide its lines are.
	COLUMNS=80 "$EPITAPH" "$@" waiters.core >wanted 2>/dev/null || [ $? -eq 1 ]
	in_gdb -ex "epitaph $command" -c waiters.core | sed '1,/^\[Current thread/d' >printed || status=$?
	[ $status -eq 0 ] || say "$command: gdb: $(cat gdb.err)"
	diff wanted printed || say "$command: not what the program prints"
}
same report report
same 'replay --last=5' replay --last=5
same 'stats --sort=calls' stats --sort=calls
same stack report --last=0 --threads=0
same info info
[ -z "$(ls -A tmp)" ] || say "temporary snapshots stay"

# An option that the program does not know: its words, and gdb's error.
in_gdb -ex 'epitaph replay --nonsense' -ex 'echo after\n' -c waiters.core >out || true
grep -q 'no option --nonsense' gdb.err || say "a bad option: $(cat gdb.err)"

# Stopped in gdb: registers are known, so stacks are.
starts ./waiters
in_gdb -ex 'epitaph report' -p "$process" >out || say "live: $(cat gdb.err)"
grep -q '  stack  ' out || { say "live: no stacks"; cat out; }
[ -z "$(ls -A tmp)" ] || say "temporary snapshots of a live process stay"

# Nowhere: what to do.
mkdir alone && cp "$BUILD"/gdb-ext/*.py alone/
PATH=/usr/bin:/bin gdb -nx -batch -iex 'set debuginfod enabled off' -x alone/epitaph.py -ex 'epitaph report' -c waiters.core >out 2>err || true
grep -q 'epitaph save crash.core' err || say "without the program: $(cat err)"

# With the library, when gdb may.
make -s -C "$TOP" BUILD="$BUILD" PREFIX="$PWD/prefix" install >made 2>&1 || { say "install"; tail made; }
gcc -g -O1 -pg -mfentry -minstrument-return=call -c "$TOP/tests/programs/waiters.c" -o shared.o
gcc shared.o -o shared -L"$PWD/prefix/lib" -lepitaph -Wl,-rpath,"$PWD/prefix/lib" -Wl,-z,now -lpthread
crash ./shared abort shared.core
gdb -nx -batch -iex 'set debuginfod enabled off' -iex "add-auto-load-safe-path $PWD/prefix" -ex 'epitaph info' ./shared shared.core >out 2>err ||
	true
grep -q ', found by ' out || say "not loaded by itself: $(cat out err)"
exit $((failures > 0))

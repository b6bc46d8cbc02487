# SPDX-License-Identifier: BSD-2-Clause
# Who waits for whom, by the C library's locks of each kind: as the program itself wrote down who they are and where its locks
# lie. Where no debug information of the C library is there; by a static program, and one without names.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
# An ordinary user's machine has no debug information of the C library.
bare=(--debug-path="$PWD/none")

# kind PROGRAM KIND LINE…: what the page says of its threads.
kind() {
	local program=$1 kind=$2
	shift 2
	crash "core.$kind" "$PWD/$program" "$kind" >/dev/null
	"$EPITAPH" report "${bare[@]}" "core.$kind" >page 2>err || true
	python3 "$TOP/tests/cli/lib/locks.py" log page "$@" || say "$program $kind"
	rm -f "core.$kind"
}
# The program's log is its stdout.
crash() {
	local core=$1
	shift
	rm -rf crash.dir && mkdir crash.dir
	{ (cd crash.dir && exec "$@" >../log 2>/dev/null) || true; } 2>/dev/null
	mv crash.dir/core* "$core" 2>/dev/null || { echo "no core of $*"; exit 1; }
}

kinds() { # PROGRAM
	local held='thread {waiter} waits for mutex {mutex}, held by thread {holder}: ' kind
	local holds='thread {holder} holds a mutex that 1 thread waits for: in '
	for kind in mutex recursive errorcheck adaptive robust inherit inherit-robust shared timed clock robust-timed inherit-timed; do
		kind "$1" "$kind" "$held" "$holds"
	done
	kind "$1" own 'deadlock: thread {waiter} waits for a mutex that it holds itself' \
		'thread {waiter} waits for mutex {mutex}, which it holds itself, and holds a mutex that 1 thread waits for: '
	kind "$1" died-holds 'thread {waiter} waits for mutex {mutex}, held by thread {died}, which died: ' \
		'thread {died}, which died, holds a mutex that 1 thread waits for'
	kind "$1" gone 'thread {waiter} waits for mutex {mutex}, held by {gone}, which is no thread of this process: '
	kind "$1" elsewhere 'thread {waiter} waits for mutex {mutex}, held by {elsewhere}, which is no thread of this process: '
	kind "$1" c11 'thread {waiter} waits for mutex {standard}, held by thread {holder}: ' "$holds"

	holds='thread {holder} holds a read-write lock that 1 thread waits for: in '
	kind "$1" read 'thread {waiter} waits for read-write lock {rwlock}, held by thread {holder}: ' "$holds"
	kind "$1" write 'thread {waiter} waits for read-write lock {rwlock} to write, held by thread {holder}: ' "$holds"
	kind "$1" write-timed 'thread {waiter} waits for read-write lock {rwlock} to write, held by thread {holder}: ' "$holds"
	kind "$1" readers 'thread {waiter} waits for read-write lock {rwlock} to write, held by 1 reader: '
	kind "$1" behind 'thread {waiter} waits for read-write lock {rwlock} to write, held by 1 reader: ' \
		'thread {behind} waits for read-write lock {rwlock}, held by 1 reader, behind thread {waiter}: '
	kind "$1" write-behind 'thread {behind} waits for read-write lock {rwlock} to write, held by 1 reader, behind thread {waiter}: '

	kind "$1" condition 'thread {waiter} waits for condition {condition} with mutex {mutex}: '
	kind "$1" condition-timed 'thread {waiter} waits for condition {condition} with mutex {mutex}: '
	kind "$1" semaphore 'thread {waiter} waits for semaphore {semaphore}: '
	kind "$1" semaphore-timed 'thread {waiter} waits for semaphore {semaphore}: '
	kind "$1" barrier 'thread {waiter} waits for barrier {barrier}: '
	kind "$1" spin 'thread {waiter} waits for spin lock {spin}: '
	kind "$1" join 'thread {waiter} waits for the end of thread {holder}: '
	kind "$1" cycle-rwlock 'thread {first} waits for read-write lock {rwlock}, held by thread {second}, and holds a mutex' \
		'thread {second} waits for mutex {mutex}, held by thread {first}, and holds a read-write lock'
	grep -qE '^  deadlock: thread [0-9]+ waits for a lock of thread [0-9]+, which waits for a lock of thread [0-9]+$' page ||
		say "$1: no deadlock with a read-write lock"
	kind "$1" cycle-join 'thread {second} waits for the end of thread {first}, and holds a mutex'
	grep -qE '^  deadlock: thread .* (waits for the end of thread .* waits for a lock of|waits for a lock of thread .* waits for the end of) thread [0-9]+$' page ||
		say "$1: no deadlock with a thread's end"
}

gcc -g -O1 "$TOP/tests/programs/lock_kinds.c" -o shared
kinds shared

# The C library in the program, whose names are in it, and then in nothing: what is told without a name is called a guess.
gcc -g -O1 -static "$TOP/tests/programs/lock_kinds.c" -o static
strip -o nameless static
gcc -O1 -s "$TOP/tests/programs/lock_kinds.c" -o stripped
for one in mutex robust inherit; do
	kind static $one 'thread {waiter} waits for mutex {mutex}, held by thread {holder}: '
	kind stripped $one 'thread {waiter} waits for mutex {mutex}, held by thread {holder}: '
	kind nameless $one 'thread {waiter} waits, likely, for mutex {mutex}, held by thread {holder}: '
done
kind static readers 'thread {waiter} waits for read-write lock {rwlock} to write, held by 1 reader: '
kind static condition 'thread {waiter} waits for condition {condition} with mutex {mutex}: '
kind static semaphore 'thread {waiter} waits for semaphore {semaphore}: '
kind static join 'thread {waiter} waits for the end of thread {holder}: '
kind stripped semaphore 'thread {waiter} waits for semaphore {semaphore}: '
# Without a name and without a holder nothing is told.
for one in semaphore readers condition gone; do
	kind nameless $one '' # its page
	hasnt page 'wait'
done
exit $((failures != 0))

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A main thread that has ended while others live: /proc/PID is a zombie's, and the process is read all the same, by those who name its
# pid, by gdb, and by the runtime itself; its core and its snapshots are as any. A process of which no thread lives is told as one.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off
process=
trap 'kill -9 $process 2>/dev/null || true' EXIT

traced ended_main ended_main -I"$TOP" -ldl
printf 'volatile long seen;\n__attribute__((noinline)) void loaded(long n) { seen += n; }\n' >loaded.c
"$BIN/epitaph-cc" -g -O1 -fpic -shared -o loaded.so loaded.c

begin() { # COMMAND...: in the background until its main thread has ended; its input is descriptor 7, its output 8
	rm -f to from && mkfifo to from
	"$@" <to >from 2>said &
	process=$!
	exec 7>to 8<from
	read -r -t 60 line <&8
	[ "$line" = ready ] || { say "it says $line"; exit 1; }
	[ "$(sed -n 's/.*) //p' "/proc/$process/stat" | cut -c1)" = Z ] || { say "its main thread has not ended"; exit 1; }
}
ask() { # WORD: and waits for what it prints, line
	echo "$1" >&7
	read -r -t 60 line <&8
}
finish() {
	exec 7>&- 8<&-
	wait "$process" 2>/dev/null || true
	process=
}

begin ./ended_main "$PWD/loaded.so"
ask load
[ "$line" = loaded ] || say "dlopen: $line"
# The runtime may have a thread of its own.
other=$(grep -lx worker "/proc/$process/task/"*/comm | sed 's,/comm$,,; s,.*/,,')

# ---- by its pid, and by that of the thread that lives ----
for pid in "$process" "pid:$process" "$other"; do
	gives 0 "$epitaph" info "$pid"
	has out "process    pid $process,"
done
# What the runtime learns of modules it reads from /proc itself.
gives 0 "$epitaph" replay "$process"
has out 'inner()'
has out 'loaded()'
gives 0 "$epitaph" stats "$process"
has out outer
gives 0 "$epitaph" report --all "$process"
has out "worker"
has out "outer"
! grep -q '^thread .*has ended' out || say "the thread that ended is among those that live: $(grep ^thread out)"
gives 0 "$epitaph" export -f jsonl -o calls.jsonl "$process"
gives 0 "$epitaph" extract -q -o taken.core "$process"
gives 0 "$epitaph" info taken.core
gives 0 "$epitaph" replay taken.core
has out 'loaded()'
gdb -q -batch -nx -ex 'info threads' ended_main taken.core >gdb.txt 2>&1
grep -q "LWP $other" gdb.txt && ! grep -q "LWP $process\b" gdb.txt || { say "threads of the snapshot:"; cat gdb.txt; }
gives 0 "$epitaph" control "$process" snapshot -o asked.core
gives 0 "$epitaph" info asked.core

# ---- control, with bytes of code ----
gives 0 "$epitaph" control "$process" status
for action in pause resume off on 'untrace inner' 'trace inner' 'timing 8'; do
	# shellcheck disable=SC2086
	gives 0 "$epitaph" control "$process" $action
done
"$epitaph" control "$process" status >out
gives 0 "$epitaph" control "$process" untrace outer
ask load
gives 0 "$epitaph" control "$process" hooks
grep -Eq 'off.* outer|outer.* off' out || say "outer is not off: $(cat out)"

# ---- doctor ----
"$epitaph" doctor "$process" >out 2>err || true
has out 'the process is traced'
has out 'coredump_filter 0x'
hasnt out 17592186044415
grep -Eq 'disk +[0-9]+ MiB are free' out || say "disk: $(cat out)"

# ---- gdb, which takes it by the thread that lives ----
gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set auto-load safe-path /' -x "$BUILD/gdb-ext/epitaph.py" \
	-ex 'epitaph info' -ex 'epitaph save by-gdb.core' -p "$other" >gdb.txt 2>gdb.err || true
grep -q "^process  *pid $process" gdb.txt || { say "in gdb:"; cat gdb.txt gdb.err; }
gives 0 "$epitaph" info by-gdb.core

# ---- another user's ----
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 .
	(setpriv --reuid=65534 --regid=65534 --clear-groups "$epitaph" info "$process" >out 2>err && exit 1
	grep -q 'permission denied' err && ! grep -q zombie err) || say "another user is told: $(cat err)"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$epitaph" doctor "$process" >out 2>err || true
	has out 'whether it is traced is not known'
fi
finish

# ---- its core, its own snapshots ----
begin ./ended_main "$PWD/own.core"
ask snapshot
[ "$line" = written ] || say "snapshot: $line"
finish
gives 0 "$epitaph" report --all own.core
has out worker
has out "program    $PWD/ended_main"
gdb -q -batch -nx -ex 'info auxv' ended_main own.core >gdb.txt 2>&1
grep -q AT_PHDR gdb.txt || say "its own snapshot has no auxv: $(cat gdb.txt)"
mkdir dies
(cd dies && ulimit -c unlimited && begin ../ended_main && { echo die >&7; finish; })
mv dies/core* died.core
gives 0 "$epitaph" report died.core
has out 'SIGSEGV'
has out '#0    inner'
has out '#1    outer'
ulimit -S -c 0
begin env EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=crash.core ./ended_main
echo die >&7
finish
gives 0 "$epitaph" report crash.core
has out 'SIGSEGV'
has out '#1    outer'
# `run` reports it; from the arena's file, too.
mkfifo in
(sleep infinity >in & echo $! >keeper) # so that its input stays open
{ "$epitaph" run ./ended_main <in >out 2>err || echo $? >status; } &
runner=$!
until grep -q ready out 2>/dev/null; do sleep 0.02; done
echo die >in
wait $runner || true
kill "$(cat keeper)"
[ "$(cat status)" = 139 ] || say "run: $(cat status)"
has err '#1    outer'
begin env EPITAPH_FILE="$PWD/arena" ./ended_main
gives 0 "$epitaph" info arena
hasnt out 'there is no such process'
hasnt out 'its process ended'
finish

# ---- a zombie ----
printf '#include <unistd.h>\nint main(void) { if (fork()) pause(); return 0; }\n' >zombie.c
gcc zombie.c -o zombie
./zombie &
process=$!
until child=$(cat "/proc/$process/task/$process/children") && [ -n "$child" ] &&
	[ "$(sed -n 's/.*) //p' "/proc/${child% }/stat" | cut -c1)" = Z ]; do sleep 0.02; done
gives 3 "$epitaph" info "${child% }"
has err 'a zombie'
gives 3 "$epitaph" doctor "${child% }"
has err 'a zombie'
exit $((failures > 0))

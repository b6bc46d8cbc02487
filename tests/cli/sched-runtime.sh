#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The drain of scheduling events leaves the program alone: signals, descriptors, fork, calls that want to be alone, exit; and
# instances do not outlive their processes for long.
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
need_scheduling

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/waits.c" -o waits
"$BIN/epitaph-cc" -O1 -pthread -static "$TOP/tests/programs/waits.c" -o waits-static

run() { EPITAPH_SCHED=$1 "${@:2}" >out 2>err || fail "$* ended with $?: $(cat err)"; }

# Nobody asked: a process that does not live long has no second thread, and nothing is said.
young() {
	./waits tell >out 2>err
	[ ! -s err ] || fail "$(cat err)"
	grep -q 'parent: 1 tasks' out
}
soon young || fail "a short process got a drain: $(cat out)"
run off ./waits tell
grep -q 'parent: 1 tasks' out || fail "off: $(cat out)"

descriptors=$(sed -n 's/.* \([0-9]*\) descriptors/\1/p' out)
for source in "${sources[@]}"; do
	run $source ./waits tell child
	[ ! -s err ] || fail "$source: $(cat err)"
	# SIGKILL and SIGSTOP cannot be blocked, all others are.
	[ "$(grep -c 'SigBlk:.fffffffffffbfeff' out)" -eq 1 ] || fail "$source: signals: $(cat out)"
	grep -q "parent: 2 tasks, $descriptors descriptors" out || fail "$source: $(cat out), not $descriptors descriptors"
	grep -q "child: 1 tasks, $descriptors descriptors" out || fail "$source: after fork: $(cat out)"
done

# What wants to be alone is: every call yields what it yields without us.
for program in ./waits ./waits-static; do
	run off $program alone
	cp out wanted
	grep -q "setuid $([ "$(id -u)" -eq 0 ] && echo 0)" wanted || fail "the test itself: $(cat wanted)"
	for source in "${sources[@]}" auto; do
		run $source $program alone
		diff wanted out || fail "$program, $source"
	done
done

# One line, when it was asked for and cannot be.
elsewhere=$(mktemp -d)
pid= # of one that holds on until it is killed
trap '[ ! -e "/proc/$pid/exe" ] || kill -KILL $pid 2>/dev/null || true; rm -rf "$elsewhere"' EXIT
chmod 755 "$elsewhere"
cp waits "$elsewhere/"
refusal=13 # EACCES; ENOENT where nobody has mounted it
grep -q ' tracefs ' /proc/mounts || refusal=2
for source in '' ftrace; do
	"${nobody[@]}" env ${source:+EPITAPH_SCHED=$source} "$elsewhere/waits" tell >out 2>err || fail "as nobody: $(cat err)"
	[ -z "$source" ] || grep -q '1 tasks' out || fail "refused, and a drain is left: $(cat out)"
	sed -i 's/ (EPITAPH_SCHED=off: none wanted)$//' err
	diff <(${source:+echo "epitaph: no scheduling events: ftrace: error $refusal"}) err || fail "'$source', no permission"
done

# An instance lives as long as its process.
has_source ftrace || exit 0
EPITAPH_SCHED=ftrace ./waits nap hold &
pid=$!
soon has_instance $pid || fail "no instance"
folder=$(echo $tracing/instances/epitaph.$pid.*)
# It is there before it is set up.
soon grep -qF '[x86-tsc]' "$folder/trace_clock" || fail "$(cat "$folder/trace_clock")"
soon grep -qx $pid "$folder/set_event_pid" && [ "$(wc -l <"$folder/set_event_pid")" = 1 ] || fail "pids: $(cat "$folder/set_event_pid")"
kill -KILL $pid
wait $pid 2>/dev/null || true
has_instance $pid || fail "a crash's instance is gone at once"
EPITAPH_SCHED=ftrace ./waits nap &
other=$!
wait $other
soon eval "! has_instance $pid" || fail "the instance of a dead process is left"
soon eval "! has_instance $other" || fail "an instance is left after exit"

# Buffers keep to what was asked for.
EPITAPH_SCHED=ftrace EPITAPH_SCHED_MEMORY=1M ./waits nap hold &
pid=$!
soon has_instance $pid || fail "no instance"
soon eval '[ "$(cat $tracing/instances/epitaph.$pid.*/buffer_total_size_kb)" -le 512 ]' ||
	fail "more than 512 KiB: $(cat $tracing/instances/epitaph.$pid.*/buffer_total_size_kb)"
kill -TERM $pid
wait $pid 2>/dev/null || true
EPITAPH_SCHED=ftrace ./waits nap

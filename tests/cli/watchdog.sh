#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that hang as real ones do: the first screen of the report names the watchdog that was not fed, or who ended them,
# and for each thread the call that it waits or spins in.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

traced watched watched -I"$TOP" -pthread

# The head of the report: up to the first empty line.
head_of() { "$EPITAPH" report "$1" 2>err | sed '/^$/q' >head; }
fits() { # PATTERN: an extended one, of one line of the head
	grep -qE -- "$1" head || { say "no line \"$1\" in:"; sed 's/^/	/' head; }
}

# ---- a deadlock, seen by a watchdog ----
crash deadlock.core "$PWD/watched" deadlock dog
head_of deadlock.core
fits '^died of +SIGABRT'
fits '^because +watchdog accounts was not fed within its deadline of 200\.000 ms'
fits '^watchdog +accounts: fed last by thread [0-9]+ watched, (at least )?[0-9.]+ m?s before the end, deadline 200\.000 ms; .* too late'
fits '^waits +thread [0-9]+ watched: in lock_journal for (at least )?[0-9.]+ m?s \(.*lll_lock_wait < .*mutex_lock'
fits '^waits +thread [0-9]+ journal: in lock_ledger for (at least )?[0-9.]+ m?s \(.*lll_lock_wait < .*mutex_lock'
[ "$(grep -c '^waits' head)" = 2 ] || say "the watcher is among the threads"
gives 0 "$EPITAPH" report --all deadlock.core
hasnt out 'epitaph-watch'
[ "$(grep -c '^thread ' out)" = 2 ] || say "threads: $(grep '^thread ' out)"
# gdb tells the same of the two threads.
gdb -q -batch -nx -ex 'thread apply all bt' -c deadlock.core watched >gdb.txt 2>&1 || true
for call in lock_journal lock_ledger; do has gdb.txt "$call ()"; done
"$EPITAPH" info --json deadlock.core >info.json
python3 - <<'PYTHON' || say "info: $(cat info.json | head -c 2000)"
import json
info = json.load(open("info.json"))
[dog] = info["watchdogs"]
assert dog["name"] == "accounts" and dog["action"] == "abort" and dog["deadline_ns"] == 200_000_000
assert dog["misses"] == 1 and dog["late_ns"] > 0 and not dog["paused"]
assert dog["fed_by"] == dog["missed_by"] == dog["created_by"] == info["pid"]
assert dog["fed_ago_ns"] >= 200_000_000
assert info["stacks_taken"] == 2
PYTHON
"$EPITAPH" replay deadlock.core >text
has text '-- missed deadline: accounts: '

# ---- in a pid namespace of its own that sees the /proc of the outer one, as after unshare(1) without --mount-proc ----
apart=(unshare --pid --fork)
[ "$(id -u)" -eq 0 ] || apart+=(--user)
if "${apart[@]}" true 2>/dev/null; then
	crash apart.core "${apart[@]}" sh -c "$PWD/watched deadlock dog; exit \$?"
	head_of apart.core
	fits '^because +watchdog accounts was not fed within its deadline of 200\.000 ms'
	"$EPITAPH" info --json apart.core >info.json
	python3 - <<'PYTHON' || say "apart: $(head -c 2000 info.json)"
import json
info = json.load(open("info.json"))
assert info["pid"] < 10 and info["stacks_taken"] == 2, info["stacks_taken"]
PYTHON
else
	echo "no pid namespaces for this user: not tried"
fi

# ---- the same, ended by somebody else ----
ended_by() { # CORE SIGNAL MODE
	local pid
	rm -rf crash.dir && mkdir crash.dir
	(cd crash.dir && exec ../watched "$3") >started 2>/dev/null &
	pid=$!
	until grep -q ready started; do sleep 0.02; done
	sleep 0.4
	kill "-$2" "$pid"
	wait "$pid" 2>/dev/null || true
	mv crash.dir/core* "$1"
}
ended_by quit.core QUIT deadlock
head_of quit.core
fits '^died of +SIGQUIT'
fits "^because +sent by pid $$ of uid $(id -u)"
fits '^waits +thread [0-9]+ watched: in lock_journal for '
fits '^waits +thread [0-9]+ journal: in lock_ledger for '

# ---- a livelock: both run, and did just now ----
ended_by livelock.core ABRT livelock
head_of livelock.core
fits '^died of +SIGABRT'
fits "^because +sent by pid $$ of uid $(id -u)"
fits '^waits +thread [0-9]+ watched: in sleep_ms for (at least )?[0-9.]+ m?s \(.*nanosleep'
[ "$(grep -cE '^(runs|waits) .*(be_polite|try_both)' head)" = 2 ] || { say "two that are polite:"; cat head; }

# ---- a thread that is starved of a lock ----
crash starved.core "$PWD/watched" starved
head_of starved.core
fits '^because +watchdog customers was not fed within its deadline of 100\.000 ms'
fits '^watchdog +customers: fed last by thread [0-9]+ server, '
fits '^waits +thread [0-9]+ server: in lock_ledger for (at least )?[0-9.]+ m?s \(.*lll_lock_wait < .*mutex_lock'
fits '^(waits|runs) +thread [0-9]+ watched: in (sleep_ms|hog) '

# ---- a frame that took too long: a snapshot, and the program goes on ----
mkdir frames && (cd frames && ../watched frame) || say "frame: status $?"
[ "$(ls frames | grep -c '\.core$')" = 1 ] || say "snapshots: $(ls frames)"
mv frames/*.core frame.core
head_of frame.core
fits '^watchdog +frame: fed last by thread [0-9]+ watched, (at least )?[0-9.]+ ms before the end, deadline 30\.000 ms; .* too late'
fits '^waits +thread [0-9]+ watched: in sleep_ms for '
gives 0 "$EPITAPH" report frame.core
has out '  in span    frame ['
grep -qE '^  stack +.*nanosleep.* < sleep_ms < load_texture < draw_frame < ' out || say "the stack at the miss: $(grep '^  stack' out)"

# ---- a callback; a thread that takes no signals; nothing at all ----
gives 0 ./watched callback
[ "$(cat out)" = '1 misses of frame, in time, in the thread to blame' ] || say "callback: $(cat out)"
crash deaf.core "$PWD/watched" blocked
head_of deaf.core
fits '^because +watchdog deaf was not fed within its deadline of 20\.000 ms'
gives 0 ./watched quiet

# ---- fork, setuid and unshare while a watcher runs ----
gives 0 env EPITAPH_SCHED=off EPITAPH_LOOKS=off ./watched kin # those have a thread of their own
printf '%s\n' 'watched by 1 threads, missed' 'a child has 10' 'setuid 0, missed after it' 'unshare as without' |
	diff - out >difference || say "kin: $(cat difference)"

exit $((failures > 0))

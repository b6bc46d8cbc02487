#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A snapshot of a process that goes on has what its threads' rings held, however fast they call and however slow the disk
# is, by each way to take one. What is missing all the same is counted, by thread, and is no exit status of 0.
# sanitized only
# alone
# quiet
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off

"$BIN/epitaph-cc" -O1 -g -pthread "$TOP/tests/programs/busy.c" -o busy
gcc -O1 "$TOP/tests/programs/holder.c" -o holder
mkfifo in out

start() { # VARIABLE=VALUE...: the program of two busy threads; its pid in $pid
	env "$@" ./busy 2 <in >out 2>err &
	pid=$!
	exec 5>in 6<out
	answer ready
}
trap 'kill -9 $pid 2>/dev/null || true' EXIT

answer() { # WORD: what the program says next
	local line
	read -r line <&6
	[ "$line" = "$1" ] || fail "the program says $line, not $1"
}

ask() { # LETTER WORD
	printf %s "$1" >&5
	answer "$2"
}

query() { # FILTER FILE: as info, with the program that is tested
	EPITAPH=$epitaph info "$1" "$2"
}

whole() { # WHAT FILE: of each busy thread 95 % of 256 blocks, of the others all, and nothing is said to be lost
	local status=0
	"$epitaph" info --json "$2" >json 2>log || status=$?
	[ $status = 0 ] || { cat json log; fail "$1: status $status"; }
	# One may just be being entered by each.
	python3 - json <<'P' || { cat json; fail "$1: blocks are missing"; }
import json, sys
info = json.load(open(sys.argv[1]))
lost, threads = info["lost"], info["threads"]
busy = [t for t in threads if t["blocks_entered"] >= 256]
sys.exit(not (len(threads) == 4 and len(busy) == 2 and all(t["blocks"] >= 244 for t in busy) and
	all(t["whole"] and t["blocks"] for t in threads if t not in busy) and
	sum(lost.values()) == lost["blocks_entering"] <= 2))
P
}

start EPITAPH_OUTPUT=own.%n.core EPITAPH_SCHED=off
ask w done
ask r round
ask k done
kill -TRAP $pid
until [ -e own.3.core ]; do sleep 0.01; done
"$epitaph" extract -q -o extract.core $pid
"$epitaph" control $pid snapshot -q -o control.core >/dev/null
# A disk that takes as little as a pipe does, for a tenth of a second at first.
"$epitaph" extract -q -o - $pid | { sleep 0.1 && cat >slow.core; }

# Whoever holds them and dies: they go on by themselves. Nonsense holds nobody.
arena=$(query 'info["arena_address"]' own.1.core)
for far in "" far; do
	# shellcheck disable=SC2086
	./holder $pid "$arena" $far
	ask r round
done
ask w done
ask l done
printf q >&5
wait $pid

whole "epitaph_snapshot_write" own.1.core
whole "a kept snapshot" own.2.core
whole "a signal" own.3.core
whole "after a holder that died" own.4.core
for how in extract control slow; do
	whole "$how" $how.core
	# What is in use of the arena, and not all of it.
	size=$(stat -c %s $how.core)
	[ "$size" -lt 5000000 ] || fail "$how: $size bytes"
done

# Little memory: of each thread the newest blocks, and the rest is counted.
status=0
"$epitaph" info own.5.core >text 2>log || status=$?
[ $status = 1 ] || fail "status $status where blocks are missing"
[ "$(query '[t["blocks"] + t["blocks_missed"] >= 255 and t["blocks_missed"] > 0 for t in info["threads"] if t["blocks_entered"] > 256]' own.5.core)" = "[True, True]" ] ||
	{ cat text; fail "blocks that are missing are not counted"; }
[ "$(query 'info["lost"]["blocks_missed"] == sum(t["blocks_missed"] for t in info["threads"])' own.5.core)" = True ]
[ "$(grep -c ' of them of thread [0-9]* busy$' text)" = 2 ] || { cat text; fail "info does not tell whose blocks are missing"; }
grep -q 'blocks were overwritten before they were copied' log
status=0
"$epitaph" report own.5.core >text || status=$?
[ $status = 1 ] || fail "report: status $status where blocks are missing"
[ "$(grep -c 'blocks of thread [0-9]* busy were overwritten before they were copied' text)" = 2 ] || { cat text; fail "report"; }
"$epitaph" report --json own.5.core >json || [ $? = 1 ]
grep -q '"missed-blocks"' json
# The other threads go on while one dies.
start EPITAPH_OUTPUT=crash.core EPITAPH_ON_CRASH=snapshot EPITAPH_SCHED=off
printf c >&5
wait $pid 2>/dev/null || true
whole "a snapshot of a crash" crash.core

# Scheduling events are in a kept one as in others, where there are any.
events() { query '(info.get("scheduling") or {}).get("switches", 0) > 0' "$1"; }
start EPITAPH_OUTPUT=sched.%n.core EPITAPH_SCHED=auto
# On a busy machine they may begin between the two.
for ((i = 0; i < 50; i++)); do
	[ "$(events $pid)" != True ] || break
	sleep 0.1
done
ask r round
ask k done
ask w done
printf q >&5
wait $pid
[ "$(events sched.1.core)" = "$(events sched.2.core)" ] || fail "a kept snapshot has no scheduling events"
whole "a kept snapshot with scheduling events" sched.1.core

# What a snapshot holds is what there is: little, of a program that did little.
cat >little.c <<'C'
#include <epitaph.h>
int main(void) { return epitaph_snapshot_write("little.core"); }
C
"$BIN/epitaph-cc" little.c -o little
EPITAPH_SCHED=off ./little
size=$(stat -c %s little.core)
[ "$size" -lt 300000 ] || fail "$size bytes of a program that made one call"
[ "$(query 'sum(info["lost"].values())' little.core)" = 0 ]
echo "whole"

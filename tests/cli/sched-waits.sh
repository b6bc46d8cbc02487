#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls whose waits are known: on-CPU and waiting time per call, per function and per place, and who ended the wait; from
# ftrace as root, from perf as an ordinary user.
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
need_scheduling

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/waits.c" -o waits
tell() { # OUTPUT COMMAND...: a status of 1 is partial, and good
	"${@:2}" >"$1" || [ $? -eq 1 ]
}
check() { # SOURCE
	local rounds spent switches
	read -r _ rounds _ spent _ switches <stdout
	tell info.json "$EPITAPH" info --json core
	tell replay.tsv "$EPITAPH" replay --format=tsv core
	tell stats.json "$EPITAPH" stats --json core
	tell waits.json "$EPITAPH" stats --waits --json core
	python3 "$TOP/tests/cli/lib/waits.py" "$1" "$rounds" "$spent" "$switches"
}

export EPITAPH_TIMESTAMP_EVERY=1
with_ftrace() {
	local command
	EPITAPH_SCHED=ftrace crash 134 ./waits recorded nap spin lock ping200 settle abort
	check ftrace
	tell out "$EPITAPH" info core
	grep -Eq '^scheduling ftrace: [0-9]+ switches and [0-9]+ wakings, of 3 threads' out || fail "info: $(cat out)"
	tell out "$EPITAPH" stats --waits core
	grep -Eq ' waits_lock < main .*ended by [0-9]+ holder' out || fail "waits: $(cat out)"
	tell out "$EPITAPH" replay core
	grep -Eq 'waits_nap\(\);  waited (at least )?[0-9]+\.[0-9]+ ms' out || fail "replay: $(cat out)"
	for command in info report replay "stats --waits"; do
		# shellcheck disable=SC2086
		tell out "$EPITAPH" $command core
		! grep -n epitaph-sched out || fail "$command tells of the drain"
	done
}
! has_source ftrace || with_ftrace

# An ordinary user, who may neither see nor make an instance.
if has_source perf; then
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	chmod 777 "$folder"
	cp waits "$folder/"
	(cd "$folder" && EPITAPH_SCHED=auto crash 134 "${nobody[@]}" ./waits nap spin lock ping200 settle abort)
	mv "$folder"/{core,stdout} .
	check perf
fi

# Nothing was recorded: that is said, not shown as no time.
EPITAPH_SCHED=off crash 134 ./waits nap abort
tell out "$EPITAPH" info core
grep -q '^scheduling not recorded (EPITAPH_SCHED=off)$' out || fail "info: $(cat out)"
! "$EPITAPH" stats --waits core 2>err || fail "waits of nothing"
grep -q 'no scheduling events were recorded' err || fail "$(cat err)"
tell out "$EPITAPH" replay core
! grep -q waited out || fail "$(cat out)"
EPITAPH_SCHED=${sources[0]} ./waits nap # removes the instance of the one that crashed

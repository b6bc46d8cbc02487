#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Scheduling events that would cost more than half of the budget are not begun, unless somebody asks for them; they begin when the
# process has become calm.
# plain only: the runtime chooses here; what the reader does is in sched-runtime
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
need_scheduling

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/waits.c" -o waits
pid=
trap '[ -z "$pid" ] || kill -KILL $pid 2>/dev/null || true' EXIT

# What is said of a process that has done ACTION… and holds.
state_is() { # STATE
	[ "$("$EPITAPH" info --json $pid 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["scheduling"]["state"])' 2>/dev/null)" = "$1" ]
}
becomes() { # STATE SETTING ACTION...
	local status=0
	env EPITAPH_BUDGET=5% "$2" ./waits "${@:3}" hold >out 2>err &
	pid=$!
	soon state_is "$1" || status=1
	"$EPITAPH" info $pid >info || [ $? -eq 1 ]
	# Or they had begun, and ended when they were seen to cost too much.
	[ "$1" != costly ] || grep -q 'its switches are too many for EPITAPH_BUDGET' info || status=1
	"$EPITAPH" report $pid >report || [ $? -eq 1 ]
	kill -KILL $pid
	wait $pid 2>/dev/null || true
	return $status
}
# Who gets less than 20 ms of a CPU in its first 100 is not judged by its switches: on a busy machine that is tried again.
expect() {
	becomes "$@" || becomes "$@" || becomes "$@" || fail "$*: $(grep '^scheduling' info)"
}

expect costly EPITAPH_BUDGET=5% ping60000
grep -q 'its switches are too many for EPITAPH_BUDGET' info || fail "$(cat info)"
grep -q 'who waited is not recorded.*: .*EPITAPH_IDLE_BUDGET' report || fail "$(cat report)"
expect on EPITAPH_BUDGET=none ping60000
! grep -q 'who waited is not' report || fail "$(cat report)"
expect on EPITAPH_SCHED=auto ping60000
# Looked at again after a second, at a block's start: first with what is left of the storm, then calm.
naps=$(printf 'nap %.0s' {1..30})
# shellcheck disable=SC2086
expect on EPITAPH_BUDGET=5% ping60000 $naps ping600 $naps ping600

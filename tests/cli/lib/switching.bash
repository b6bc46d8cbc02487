# SPDX-License-Identifier: BSD-2-Clause
# switching.bash: tests/programs/switcher.c, run with EPITAPH=off, and its hooks' bytes at both of its waits. Sourced, after
# traced.bash.
export EPITAPH_MEMORY=4M EPITAPH_SCHED=off EPITAPH_BUDGET=none LD_LIBRARY_PATH=.
hot=(leaf tail nothing sum half down maybe step) # all that run more than once

# switched FILE PROGRAM ARGUMENTS...: FILE, not stripped, has the hooks. Writes off.sites, on.sites, from (its stdout), core.
# while_off and while_on are commands, run while it waits, with its pid.
while_off=: while_on=:
switched() {
	local file=$1 pid phase
	shift
	rm -f to core core.* && mkfifo to && : >from
	EPITAPH=off "$@" <to >from 2>errors &
	pid=$!
	exec 3>to
	for phase in off on; do
		until grep -qx $phase from || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
		python3 "$TOP/tests/cli/lib/sites.py" $pid "$file" "${hot[@]}" >$phase.sites || say "no sites"
		if [ $phase = off ]; then $while_off $pid; else $while_on $pid; fi
		echo >&3
	done
	exec 3>&-
	wait $pid 2>/dev/null || true
	[ -e core ] || mv core.* core 2>/dev/null || [ -n "${no_core:-}" ] || say "no core"
}

# What it says on stdout, whatever happens to its hooks.
says() { # WHAT
	[ "$(tr '\n' ' ' <from)" = "1756000 off on 19 " ] || say "$1: $(cat from)"
}

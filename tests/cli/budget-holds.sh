#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What goes off for EPITAPH_BUDGET, by the bytes of the running code: hot leaves, soon; never a function of DOFUNTRACE, as hot as
# they are, nor one that waits, or runs long, or main. A forked child begins with what is off in its parent. Without a budget
# all stay.
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
unset EPITAPH_BUDGET
export EPITAPH_SCHED=off EPITAPH_MEMORY=4M LD_LIBRARY_PATH=.
pids=()
trap '[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true' EXIT

start() { # PROGRAM: it has done its rounds; its pid in $pid
	: >from
	"$@" >from 2>errors &
	pid=$!
	pids+=($pid)
	until grep -qx "done" from || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
	[ ! -s errors ] || say "it said: $(cat errors)"
}

end() {
	kill "${pids[@]}" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	pids=()
}

sites() { # PID FILE FUNCTION...
	python3 "$TOP/tests/cli/lib/sites.py" "$@" >sites
}

# Now and then one is back on trial, for a moment.
off_by_now() { # PID FILE
	local i
	for ((i = 0; i < 200; i++)); do
		sites "$1" "$2" leaf small
		! grep -qx "on 0" sites || grep -qx "off 0" sites || return 0
		sleep 0.05
	done
	say "they are on: $(cat sites)"
	return 0
}

stays() { # FILE FUNCTION...
	sites $pid "$@"
	grep -qx "off 0" sites && ! grep -qx "on 0" sites || say "of $* there went off: $(cat sites)"
}

child_too() { # FILE
	local i child=
	for ((i = 0; i < 10; i++)); do
		: >from
		kill -USR1 $pid
		until grep -q child from; do sleep 0.02; done
		child=$(sed -n 's/child //p' from | tail -n 1)
		pids+=("$child")
		sites "$child" "$1" leaf small
		! grep -qx "on 0" sites || return 0
	done
	say "they are on in a child: $(cat sites)"
}

judge() { # WHAT PROGRAM FILE: the leaves are in FILE
	local before=$failures
	start "./$2"
	off_by_now $pid "$3"
	stays "$3" kept
	stays "$2" waits works turn main have_child
	child_too "$3"
	end
	[ "$failures" = "$before" ] || echo "	by $1"
}

executable() { # COMPILER FLAGS...
	EPITAPH_CC=$1 "$BIN/epitaph-cc" "${@:2}" "$TOP/tests/programs/budgeted.c" -o prog || say "$* does not build"
	judge "$*" prog prog
}

executable gcc -O2
EPITAPH_BUDGET=1% judge "1 %" prog prog

start env EPITAPH_BUDGET=none ./prog
stays prog leaf small kept waits works turn main
end

executable gcc -O1 -static
executable gcc -O2 -flto -fcf-protection=full -epitaph-runtime=shared
executable clang -O2
executable gcc -O2 -epitaph-method=finstrument

"$BIN/epitaph-cc" -O2 -shared -fPIC -DLEAVES "$TOP/tests/programs/budgeted.c" -o libleaves.so
"$BIN/epitaph-cc" -O2 -DMAIN "$TOP/tests/programs/budgeted.c" -o linked ./libleaves.so
judge "a library" linked libleaves.so

[ "$failures" -eq 0 ] || exit 1

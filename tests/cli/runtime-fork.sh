#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A forked child has a trace of its own: its pid, its generation, none of the
# parent's calls; also after a raw clone that no fork handler sees, and when its first call is its last.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O1 "$TOP/tests/programs/forks.c" -o forks
for how in fork raw _Fork clone; do
	crash 0 ./forks $how
	pid=$(eu-readelf --notes core | sed -nE 's/.* pid: ([0-9]+),.*/\1/p' | head -n 1)
	[ "$(info 'info["pid"]')" = "$pid" ] ||
		fail "$how: the core is of $pid, the trace of $(info 'info["pid"]')"
	[ "$(info 'threads["forks"]["whole"]')" = False ] ||
		fail "$how: the calls that the child was forked in are no part of its trace"
	"$EPITAPH" replay --format=tsv core >tsv || [ $? -eq 1 ]
	grep -q 'in_child' tsv || fail "$how: the child's calls are missing"
	! grep -q 'in_parent' tsv || fail "$how: the parent's calls are in the child's trace"
	grep -q 'die.*did-not-return' tsv || fail "$how: the last call is missing"
done

# Each writes a snapshot of its death. A vfork child dies in its parent's memory, whose turn must come after it.
ulimit -c 0
pid_of() { "$EPITAPH" info --json "$1" | sed -E 's/.*"pid": *([0-9]+).*/\1/;q'; }
for how in fork raw _Fork clone vfork; do
	! EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=snapshot.%p ./forks $how both >pids 2>err || fail "$how: nobody died"
	read -r parent child <pids
	[ ! -s err ] && [ -e snapshot.$parent ] && [ -e snapshot.$child ] || fail "$how: of $(cat pids): $(ls snapshot.*) $(cat err)"
	"$EPITAPH" replay --format=tsv snapshot.$parent >tsv || [ $? -eq 1 ]
	grep -q in_parent tsv && grep -q 'die.*did-not-return' tsv || fail "$how: the parent's trace"
	[ "$(pid_of snapshot.$parent)" = "$parent" ] || fail "$how: the parent's pid"
	[ $how != vfork ] || continue
	"$EPITAPH" replay --format=tsv snapshot.$child >tsv || [ $? -eq 1 ]
	! grep -q in_parent tsv && grep -q 'die.*did-not-return' tsv || fail "$how: the child's trace"
	[ "$(pid_of snapshot.$child)" = "$child" ] || fail "$how: the child's pid"
done

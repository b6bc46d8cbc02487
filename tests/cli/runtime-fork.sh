#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A forked child has a trace of its own: its pid, its generation, none of the
# parent's calls; also after a raw clone that no fork handler sees.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O1 "$TOP/tests/programs/forks.c" -o forks
for how in fork raw; do
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

# SPDX-License-Identifier: BSD-2-Clause
# A task that shares a thread's memory without thread-local memory of its own does not write into the thread's history, and that
# it is there is said.
# plain only: the runtime tells tasks apart here; the reader is in report-silence and report
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

traced shared_memory program
calls() { # NAME: how many calls of it are in the trace
	awk -F, -v name="\"$1\"" '$1 == name { print $4; found = 1 } END { if (!found) print 0 }' stats
}

# run WHERE EVERY MOST: at most so many calls of the task are in the history, and nothing of its thread's is missing
run() {
	crash core.now env EPITAPH_BUDGET=none EPITAPH_MEMORY=512M EPITAPH_RING=128M EPITAPH_TIMESTAMP_EVERY="$2" "$PWD/program" "$1"
	"$EPITAPH" stats --csv core.now >stats || [ $? -eq 1 ]
	"$EPITAPH" info core.now >info || [ $? -eq 1 ]
	[ "$(calls other_leaf)" -le "$3" ] || say "$*: $(calls other_leaf) calls of the task"
	[ "$(calls own_leaf)" -ge 32000 ] || say "$*: $(calls own_leaf) calls of the thread"
	[ "$(calls helper)" -le 1 ] || say "$*: helper"
	grep -qF 'threads share their memory with a task' info || say "$*: info: $(grep ^lost info)"
	open=$("$EPITAPH" replay core.now | grep 'did not return' | awk '{ print $NF, $0 }' | grep -c 'main' || true)
	[ "$open" = 1 ] || say "$*: open calls"
}
for round in 1 2; do
	run out 1 0
	run out auto 64
	run out 64 64
done
# On the thread's own stack its number alone tells.
run in auto 0
run in 64 0
[ $failures -eq 0 ]

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# gdb's gcore of a process, the kernel's core of the same state, and one with its segments sorted by size (kernel.core_sort_vma):
# the same calls, the same stacks.
# sanitized only
# alone
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
sorted=/proc/sys/kernel/core_sort_vma
before=
[ ! -w $sorted ] || before=$(cat $sorted)
process=
trap '[ -z "$before" ] || echo "$before" >$sorted; kill -9 $process 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
export EPITAPH_SCHED=off EPITAPH_LOOKS=off # how long it waited, and how often it was looked at, is another time in each
traced waiters

told() { # CORE: its calls, and its stacks
	# When a file was written last bounds the end, and is another time in each.
	"$EPITAPH" replay "$1" | sed 's/; times count back from .*//' >"$1.calls"
	"$EPITAPH" report --all "$1" | grep -E '^  #|^  stack|^thread' >"$1.stacks"
	grep -q wait_for_ever "$1.stacks" || { cat "$1.stacks"; say "$1: no stack"; }
}
taken() { # NAME: of one process by gcore, then by the kernel
	starts ./waiters
	in_gdb -iex 'set debuginfod enabled off' -p "$process" -ex "gcore $1.gcore" >gdb.out || say "gcore: $(cat gdb.out gdb.err)"
	rm -f core
	kill -ABRT "$process"
	wait "$process" 2>/dev/null || true
	mv core* "$1.kernel" || say "no core"
	told "$1.gcore"
	told "$1.kernel"
	cmp "$1.gcore.calls" "$1.kernel.calls" || say "$1: other calls"
	# The kernel's first thread is the one that took the signal, gdb's the one that it stopped.
	diff <(grep '^  ' "$1.gcore.stacks" | sort) <(grep '^  ' "$1.kernel.stacks" | sort) || say "$1: other stacks"
}
taken usual
if [ -n "$before" ]; then
	echo 1 >$sorted
	taken sorted
	echo "$before" >$sorted
	"$EPITAPH" extract -q -o snapshot sorted.kernel
	"$EPITAPH" replay snapshot | sed 's/; times count back from .*//' | cmp - sorted.kernel.calls || say "the snapshot's calls"
fi
exit $((failures > 0))

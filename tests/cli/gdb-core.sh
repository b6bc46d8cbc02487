#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# In gdb, a core gives its trace with the executable and without, stripped, PIE or not, static or not; the snapshot's arena is
# the core's byte for byte, and gdb and eu-stack unwind the snapshot as they do the core.
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
export EPITAPH_SCHED=off EPITAPH_LOOKS=off # a thread of those is one more to gdb

check_info() { # NAME PID: the core NAME/core, without an executable
	in_gdb -ex 'epitaph info' -ex 'epitaph threads' -c "$1/core" >"$1/info" || say "$1: $(cat gdb.err)"
	"$BIN/epitaph" info "$1/core" >wanted || say "$1: info: status $?"
	diff wanted <(sed -n "/^program/,/^gdb /{/^gdb /!p}" "$1/info") || say "$1: info is not what the program prints"
	local thread
	for thread in '\*1 +'"$2"' +waiters ' ' [234] +[0-9]+ +waiter-1 ' ' [234] +[0-9]+ +waiter-2 ' ' [234] +[0-9]+ +waiter-3 '; do
		grep -Eq "^$thread+live +[1-9][0-9]* " "$1/info" || say "$1: no line of thread $thread"
	done
}

for variant in pie: no-pie:-no-pie static:-static static-pie:-static-pie; do
	name=${variant%%:*} flags=${variant#*:}
	mkdir "$name"
	# shellcheck disable=SC2086
	traced "$name/waiters" $flags
	crash "$name/waiters" abort "$name/core"
	pid=$(eu-stack --core="$name/core" -e "$name/waiters" 2>/dev/null | sed -n '1s/^PID \([0-9]*\) .*/\1/p')
	in_gdb -ex "epitaph save $name/with" "$name/waiters" "$name/core" >saved || say "$name: $(cat gdb.err)"
	grep -Eq "^$name/with: .*, arena whole, 4 of 4 stacks$" saved || say "$name: saved: $(cat saved)"
	same_arena "$name/core" "$name/with" || say "$name: another arena in the snapshot"
	same_frames "$name/waiters" "$name/core" "$name/with" || say "$name: other frames in the snapshot"
	mv "$name/waiters" "$name.kept"
	check_info "$name" "$pid"
	in_gdb -ex "epitaph save $name/without" -c "$name/core" >/dev/null || say "$name: without executable: $(cat gdb.err)"
	same_arena "$name/core" "$name/without" || say "$name: another arena without the executable"
	# A snapshot of a snapshot is that snapshot.
	in_gdb -ex "epitaph save $name/again" -c "$name/with" >/dev/null || say "$name: again: $(cat gdb.err)"
	cmp "$name/with" "$name/again" || say "$name: another snapshot"
	cp "$name.kept" "$name/waiters"
done

# Stripped while it is a file: the core is the same, gdb has no symbols.
mkdir stripped
strip -o stripped/waiters pie.kept
crash stripped/waiters abort stripped/core
in_gdb -ex 'epitaph save stripped/with' stripped/waiters stripped/core >/dev/null || say "stripped: $(cat gdb.err)"
same_arena stripped/core stripped/with || say "stripped: another arena"

# Every way to the arena comes to the same one; the symbol only where there is one.
cat >ways.py <<'EOF'
import sys
arena, live = sys.modules["epitaph_arena"], sys.modules["epitaph_live"]
finder = arena.Finder(live.open_process())
for name in ("by_segment", "by_symbol"):
    print(name, *("0x%x" % found.address for found in getattr(finder, name)()))
EOF
for name in pie no-pie static static-pie stripped; do
	read -r address _ < <(arena_of "$name/core")
	printf '%s '"$address"'\n' by_segment by_symbol >expected
	[ $name != stripped ] || { sed -i 's/^by_symbol.*/by_symbol/' expected; cp stripped/waiters stripped.kept; }
	in_gdb -x ways.py "$name.kept" "$name/core" | grep ^by_ >ways || true
	diff expected ways || say "$name: the ways to the arena differ"
done
exit $((failures > 0))

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# In gdb, a core gives its trace with the executable and without, stripped, PIE or not, static or not; the snapshot's arena is
# the core's byte for byte, and gdb and eu-stack unwind the snapshot as they do the core.
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"

tell() { # NAME: the core NAME/core, without an executable
	in_gdb -ex 'epitaph info' -ex 'epitaph threads' -c "$1/core" >"$1/told" || say "$1: $(cat gdb.err)"
	grep -Eq '^arena +0x[0-9a-f]+, .*; all of that was saved$' "$1/told" || say "$1: not all of the arena"
	grep -Eq "^program +.*/$1/waiters, pid $2 on " "$1/told" || say "$1: not its program, not pid $2"
	grep -Eq '^threads +4: 4 live, 0 ended$' "$1/told" || say "$1: not four threads"
	local thread
	for thread in '\* +1 +'"$2"' +waiters ' ' +[234] +[0-9]+ +waiter-1 ' ' +[234] +[0-9]+ +waiter-2 ' ' +[234] +[0-9]+ +waiter-3 '; do
		grep -Eq "^$thread+live +[1-9][0-9]* of [1-9]" "$1/told" || say "$1: no line of thread $thread"
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
	tell "$name" "$pid"
	in_gdb -ex "epitaph save $name/without" -c "$name/core" >/dev/null || say "$name: without executable: $(cat gdb.err)"
	same_arena "$name/core" "$name/without" || say "$name: another arena without the executable"
	# A snapshot of a snapshot is no worse.
	in_gdb -ex "epitaph save $name/again" -c "$name/with" >/dev/null || say "$name: again: $(cat gdb.err)"
	same_arena "$name/core" "$name/again" || say "$name: another arena in the snapshot's snapshot"
	cp "$name.kept" "$name/waiters"
	same_frames "$name/waiters" "$name/core" "$name/again" || say "$name: other frames in the snapshot's snapshot"
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
root, source = sys.modules["epitaph_root"], sys.modules["epitaph_source"]
core = source.open_source()
finder = root.Finder(core)
for name in ("by_segment", "by_note", "by_symbol", "by_scan"):
    found = {f.arena_address for f in getattr(finder, name)() if f}
    print(name, *("0x%x" % address for address in found))
EOF
for name in pie no-pie static static-pie; do
	read -r address _ < <(arena_of "$name/core")
	printf '%s '"$address"'\n' by_segment by_note by_symbol by_scan >expected
	in_gdb -x ways.py "$name.kept" "$name/core" | grep ^by_ >ways || true
	diff expected ways || say "$name: the ways to the arena differ"
done
sed -i 's/^by_symbol.*/by_symbol/' expected
read -r address _ < <(arena_of stripped/core)
sed -i "s/0x.*/$address/" expected
in_gdb -x ways.py stripped/waiters stripped/core | grep ^by_ >ways || true
diff expected ways || say "stripped: the ways to the arena differ"
exit $((failures > 0))

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Names and lines of the crashed stack, however the program and its debug information were built: gdb's of the same core.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

ours() { # "function story.c:LINE" of each frame in the program's own source
	"$EPITAPH" report core | sed -n 's/^  #[0-9]* *\([a-z_]*\)+0x[0-9a-f]* *[^ ]*\/\(story\.c:[0-9]*\).*/\1 \2/p'
}
gdbs() {
	gdb -nx -batch -iex 'set debug-file-directory /nonexistent' -ex bt "./$1" core 2>/dev/null | sed -nE 's/^#[0-9]+ +(0x[0-9a-f]+ in )?([a-z_]+) \(.*\) at .*\/(story\.c:[0-9]+)$/\2 \3/p'
}
same() { # PROGRAM WORDS
	crash core "$PWD/$1"
	ours >ours
	gdbs "$1" >gdbs
	[ "$(wc -l <gdbs)" -eq 3 ] || { say "$2: gdb has no lines"; return; }
	diff gdbs ours >why || { say "$2: gdb's and ours"; cat why; }
}

for compiler in gcc clang; do
	for flags in -O1 -Os "-O1 -gdwarf-4" "-O1 -gsplit-dwarf" "-O1 -gdwarf-4 -gsplit-dwarf" "-O1 -gz" "-O1 -flto" "-O1 -static" \
		"-O1 -static-pie" "-O1 -no-pie"; do
		# shellcheck disable=SC2086
		EPITAPH_CC=$compiler "$BIN/epitaph-cc" -w -g $flags -fno-optimize-sibling-calls "$TOP/tests/programs/story.c" -o story
		same story "$compiler $flags"
	done
done

# Debug information apart: by debug link, by build-id, and with its common part in a file of its own.
traced story story -Wl,--build-id
cp story twin
cp story dwzed
dwz -m common.dwz dwzed twin
same dwzed "dwz -m"
objcopy --only-keep-debug story story.debug
strip story
objcopy --add-gnu-debuglink=story.debug story
same story "debug link"
[ $failures -eq 0 ]

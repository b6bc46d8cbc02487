#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Debug information that lies elsewhere: .dwo files, a .dwp, a file that strip
# left, one that dwz made smaller. The core decodes to the log that the program
# kept, and the report still names the line it died at.
set -euo pipefail
source "$TOP/tests/cli/lib/builds.bash"

for compiler in gcc clang; do
	for dwarf in 4 5; do
		name=$compiler-dwo-$dwarf
		build "$name" $compiler -O1 -g -gdwarf-$dwarf -gsplit-dwarf
		ls ./*.dwo >/dev/null || fail "$name has no .dwo"
		names_line
		rm -f ./*.dwo
	done
done

name=gcc-dwz
compile gcc -O1 -g
dwz "truth-$name"
decoded "$name" leaves
names_line

name=gcc-debuglink
compile gcc -O1 -g
objcopy --only-keep-debug "truth-$name" "truth-$name.debug"
strip "truth-$name"
objcopy --add-gnu-debuglink="truth-$name.debug" "truth-$name"
decoded "$name" leaves
names_line

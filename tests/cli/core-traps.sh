#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Three ways in which readers of cores were caught, on real ones: data that the program changed is the core's, not its file's; memory
# that a segment names but does not hold is not the next segment's bytes; and it is not zeroes.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

cat >traps.c <<'C'
#include <epitaph.h>
#include <stdlib.h>
#include <string.h>
char changed[4096] __attribute__((aligned(4096))) = "the file says %d";
int main(void)
{
	strcpy(changed, "the core says %d");
	epitaph_note(changed, 1);
	epitaph_note("a constant says %d", 2);
	abort();
}
C
"$BIN/epitaph-cc" -O1 traps.c -o traps
crash 134 ./traps
notes() { # CORE: what its notes say
	"$EPITAPH" replay --format=tsv "$1" 2>/dev/null >tsv || [ $? -eq 1 ]
	awk -F'\t' 'sub(/^note /, "", $11) {print $11}' tsv
}
wants() { # WHAT, on stdin what it says
	diff - <(notes core) || fail "$1"
}

# Data is read from the core, constants from the file: the kernel has not saved them.
wants 'with the program' <<'END'
the core says 1
a constant says 2
END

# Without the program's file its constants are unknown: their segment is in the core by name only.
mv traps away
at=$(readelf -lW core | awk '$1 == "LOAD" && $5 == "0x000000" {found = 1} END {print found + 0}')
[ "$at" -eq 1 ] || fail "this kernel has saved every segment: the test tests nothing"
notes core >got
[ "$(head -n 1 got)" = 'the core says 1' ] || fail "without the program: $(cat got)"
[[ $(tail -n 1 got) == '[format at '*' not found] 2' ]] || fail "without the program: $(cat got)"
mv away traps

# The core ends before the data: what the file says is not what the memory said, and neither is nothing.
offset=$(python3 - <<'PYTHON'
core = open("core", "rb").read()
at = core.find(b"the core says %d\0")
assert at % 4096 == 0 and core.find(b"the core says %d\0", at + 1) < 0
print(at)
PYTHON
)
truncate -s "$offset" core
notes core >got
[ "$(tail -n 1 got)" = 'a constant says 2' ] || fail "cut: $(cat got)"
[[ $(head -n 1 got) == '[format at '*' not found] 1' ]] || fail "cut before the data: $(cat got)"

# gdb gives zeroes for what is cut away; what it saves must not.
gdb -nx -batch -iex 'set debuginfod enabled off' -x "$BUILD/gdb-ext/epitaph.py" -ex 'epitaph save saved' traps core >said 2>&1 ||
	fail "gdb: $(cat said)"
notes saved >got
[[ $(head -n 1 got) == '[format at '*' not found] 1' ]] || fail "saved by gdb: $(cat got)"

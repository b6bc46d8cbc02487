#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that writes its snapshot, or keeps its arena, in a folder that everybody may write to, where somebody else has made 1,000 files
# with the names that it writes aside (.epitaph.PID.N.part): it takes another name, and harms none of his.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/dies_as.c" -o dies_as
mkdir shared
chmod 1777 shared
program=$PWD/dies_as
plant() { # PID...
	python3 - "$@" <<'PYTHON'
import os, sys
if os.getuid() == 0:
    os.setegid(65533), os.seteuid(65533)
for pid in sys.argv[1:]:
    for n in range(1000):
        with open(f"shared/.epitaph.{pid}.{n}.part", "x") as file:
            file.write("his")
PYTHON
}
EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=$PWD/shared/epitaph.%p.core "$program" wait="$PWD/go" &
pid=$!
soon test -d "/proc/$pid"
sleep 0.5
# shellcheck disable=SC2046
plant $(ls "/proc/$pid/task")
touch go
wait $pid || true
[ -f "shared/epitaph.$pid.core" ] || fail "no snapshot: $(ls shared | head -3)"
"$EPITAPH" report "shared/epitaph.$pid.core" >report || [ $? -eq 1 ]
grep -q SIGSEGV report || { cat report; fail "no report of it"; }
[ "$(find shared -name '*.part' -size 3c | wc -l)" -ge 1000 ] && [ "$(find shared -name '*.part' ! -size 3c | wc -l)" = 0 ] ||
	fail "not all of his files are as they were"

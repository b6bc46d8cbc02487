#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Wherever the demo's server dies, the report's stack is gdb's, and the check notices when it is not.
# timeout: 600
set -euo pipefail
for place in parse get put evict digest expire; do
	TMPDIR=$PWD "$TOP/tests/demo/run" "$place" 3000 >out 2>&1 || { cat out; exit 1; }
	[ "$(tail -n 1 out)" = "demo: passed" ]
done

# A report with one function less, or with two exchanged, doesn't pass.
"$BIN/epitaph-cc" -g -O1 -x c - -o nested <<'SRC'
static int *volatile nobody;
__attribute__((noinline)) static void innermost(int n) { *nobody = n; }
__attribute__((noinline)) static int middle(int n) { innermost(n); return n; }
__attribute__((noinline)) static int outer(int n) { return middle(n) + 1; }
int main(int argc, char **argv) { (void)argv; return outer(argc); }
SRC
source "$TOP/tests/demo/core.bash"
core_prepare
mkdir dead
{ (cd dead && ../nested) || true; } 2>/dev/null
core=$(core_of dead)
gdb -batch -nx -ex bt nested "$core" 2>/dev/null | grep '^#' | awk '!seen[$1]++' >right
"$TOP/tests/demo/agree" nested "$core" right >/dev/null
grep -v middle right | awk '{ $1 = "#" NR - 1; print }' >less
sed -E 's/outer/SWAP/; s/middle/outer/; s/SWAP/middle/' right >exchanged
for wrong in less exchanged; do
	! "$TOP/tests/demo/agree" nested "$core" $wrong >/dev/null 2>&1 || { echo "$wrong passed"; cat $wrong; exit 1; }
done

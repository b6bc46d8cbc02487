#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A stripped program's functions are told by address, and the report says so, what would help, and how many; with its debug file
# at hand, it has their names and says nothing.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

cat >app.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void inner(void) { abort(); }
__attribute__((noinline)) void outer(void) { inner(); __asm__ volatile(""); }
int main(void) { outer(); __asm__ volatile(""); }
END
"$BIN/epitaph-cc" -g -O1 -Wl,--build-id app.c -o app
id=$(readelf -n app | awk '/Build ID/ { print $3 }')
mkdir -p debug/.build-id/"${id:0:2}"
objcopy --only-keep-debug app debug/.build-id/"${id:0:2}/${id:2}.debug"
strip app
crash 134 ./app

"$EPITAPH" report core >page || [ $? -eq 1 ]
# main, outer, inner and _start; of what else of it is in the stack nobody is sure.
grep -Eq "/app is stripped: [4-9] of its functions are told by address; .*--debug-path" page || { cat page; fail "not told"; }
! grep -q 'outer' page || { cat page; fail "names out of nothing"; }
"$EPITAPH" report --json core >page.json || [ $? -eq 1 ]
python3 -c '
import json
codes = [w["code"] for w in json.load(open("page.json"))["warnings"] if "/app is" in w["text"]]
assert codes == ["no-symbols"], codes'

"$EPITAPH" report --debug-path="$PWD/debug" core >page || [ $? -eq 1 ]
grep -q 'inner+0x' page && grep -q 'outer+0x' page || { cat page; fail "no names"; }
! grep -q '/app is stripped' page || { cat page; fail "told all the same"; }

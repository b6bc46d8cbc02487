#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# vfork in traced programs of every kind, from several threads, nested: parents find their registers, stack and errno as they were,
# and the trace tells that each of them returned and that what children called did not.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export ASAN_OPTIONS=detect_leaks=0:disable_coredump=0 TSAN_OPTIONS=disable_coredump=0

try() { # WORDS marks|none FLAGS...
	local words=$1 marks=$2
	shift 2
	"$BIN/epitaph-cc" -w -g "$@" "$TOP/tests/programs/vforked.c" -o vforked -pthread
	./vforked 2 8 >said 2>&1 && grep -qx well said || { say "$words: the program fails"; cat said; return; }
	[ "$marks" = marks ] || return 0
	crash core "$PWD/vforked" 2 8 abort
	gives 0 "$EPITAPH" replay --format=tsv core
	python3 - "$words" out <<'END' || failures=$((failures + 1))
import sys
from collections import Counter
# Three times eight rounds, whose vforks nest one to four deep; 21 calls in each child.
vforks = 3 * 2 * (1 + 2 + 3 + 4)
want = {("parent", False): vforks, ("child", True): 21 * vforks}
have = Counter()
for line in open(sys.argv[2]):
    columns = line.rstrip("\n").split("\t")
    if columns[0] == "E" and columns[7] in ("parent", "child"):
        have[columns[7], "abandoned" in columns[10]] += 1
        if {"ambiguous", "unwound"} & set(columns[10].split(",")):
            have[columns[10]] += 1
if have != want:
    print(sys.argv[1], "true:", want, "told:", dict(have))
    sys.exit(1)
END
}

try "dynamic" marks -O1
try "not optimized" marks -O0
try "hooks before inlining" marks -O2 -epitaph-method=finstrument
try "static" marks -O1 -static
try "static, position independent" marks -O1 -static-pie
try "shared runtime" marks -O1 -epitaph-runtime=shared
try "branches and returns protected" marks -O1 -fcf-protection=full
try "address sanitizer" marks -O1 -fsanitize=address
EPITAPH_CC=clang try "clang" marks -O1
# These have a vfork of their own in the program, or make a fork of it.
EPITAPH_CC=clang try "clang's address sanitizer" none -O1 -fsanitize=address
try "thread sanitizer" none -O1 -fsanitize=thread
[ $failures -eq 0 ]

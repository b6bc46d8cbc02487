#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The arena lies low and at random, is one piece, comes before the program in a
# small non-PIE one, and survives a core that was cut short by its limit.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

server=$TOP/tests/programs/server.c
"$BIN/epitaph-cc" -O1 -pthread "$server" -o server
low=$((4 << 30)) high=$((64 << 30))
seen=
for _ in 1 2 3; do
	crash 139 ./server -n 500 -p get
	at=$(info 'info["arena_address"]')
	[ "$at" -ge $low ] && [ "$at" -lt $high ] || fail "arena at $at"
	seen="$seen $at"
done
[ "$(tr ' ' '\n' <<<"$seen" | sort -u | sed '/^$/d' | wc -l)" -eq 3 ] ||
	fail "not at random: $seen"

# What is opened is one PT_LOAD, and as large as what is in use.
size=$(info 'info["arena_bytes"]')
readelf -lW core | awk -v at="$(printf '0x%016x' "$at")" \
	'$1 == "LOAD" && $3 == at { print $5 }' >segment
[ $(($(cat segment))) -eq "$size" ] ||
	fail "arena of $size bytes, segment of $(cat segment)"

# A small arena of a non-PIE program lies below it.
"$BIN/epitaph-cc" -O1 -pthread -no-pie -fno-pie "$server" -o server-fixed
export EPITAPH_MEMORY=3M
crash 139 ./server-fixed -n 500 -p get
unset EPITAPH_MEMORY
[ "$(info 'info["arena_address"]')" -eq $((0x100000)) ] ||
	fail "non-PIE: arena at $(info 'info["arena_address"]')"

# A heap of 200 MB and a core of 16 MB: the whole arena is in it.
cat >heap.c <<'C'
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void last_words(char *heap)
{
	memset(heap, 1, 200000000);
	abort();
}
int main(void)
{
	last_words(malloc(200000000));
}
C
"$BIN/epitaph-cc" -O0 heap.c -o heap
rm -f core core.*
status=0
(ulimit -c 16384 && exec ./heap) 2>stderr || status=$?
[ $status -eq 134 ] || fail "heap ended with $status"
[ -f core ] || mv core.* core
[ "$(stat -c %s core)" -lt 30000000 ] || fail "the core was not cut"
[ "$(info 'info["lost"]["pages_missing"]')" -eq 0 ] || fail "the arena was cut"
"$EPITAPH" replay --format=tsv core >tsv || [ $? -eq 1 ]
grep -q 'last_words.*did-not-return' tsv || fail "the last call is missing"

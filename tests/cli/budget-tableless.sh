#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Code without unwind tables: one function goes off, and nothing of the others, by name, where a part of another function lies
# behind it, by all methods of instrumentation; and for the budget, where the story around the hot function stays, and the
# report, status and info name it.
# plain only: the runtime chooses here; the reader is in budget
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export EPITAPH_SCHED=off EPITAPH_MEMORY=4M
epitaph=$EPITAPH
unset EPITAPH EPITAPH_BUDGET
no_tables=(-fno-asynchronous-unwind-tables -fno-unwind-tables)
functions=(cold tiny seldom tail cases+ request handle each_name)
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

by_name() { # WHAT FILE
	EPITAPH_BUDGET=none python3 "$TOP/tests/cli/lib/one_off.py" "$2" "${functions[@]}" >off 2>&1 || say "$1: it failed"
	[ ! -s off ] || say "$1: $(cat off)"
}

hot() { # WHAT FILE
	local calls
	crash core "$PWD/$2" hot 250
	"$epitaph" replay core >replay 2>/dev/null || true
	calls=$(grep -cE '\bhandle\(\)' replay || true)
	[ "$calls" -ge 200 ] || say "$1: $calls calls of handle in the history"
	"$epitaph" report core >report 2>/dev/null || true
	grep -q 'not traced since.*1 function.*(tiny)' report || say "$1: the report names: $(grep 'not traced' report)"
	hasnt report _start
	"$epitaph" info core >info 2>/dev/null || true
	hasnt info _start
	rm -f core
}

build() { # COMPILER FILE FLAGS...
	EPITAPH_CC=$1 "$BIN/epitaph-cc" -O2 "${no_tables[@]}" "${@:3}" "$TOP/tests/programs/tableless.c" -o "$2" 2>said || { say "$* does not build"; cat said; }
}

names() { # COMPILER FLAGS...
	build "$1" prog "${@:2}"
	by_name "$*" prog
}

each() { # COMPILER FLAGS...
	names "$@"
	hot "$*" prog
}

each gcc
each clang -epitaph-method=xray -static
names gcc -static -fcf-protection=full -Os
names gcc -epitaph-method=finstrument
names gcc -epitaph-method=finstrument -no-pie -fno-pie
names gcc -Wl,--no-eh-frame-hdr -fpatchable-function-entry=5
names clang

# While it runs: who looks from outside sees the same.
build gcc prog
./prog hot 100000 >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 200; i++)); do
	"$epitaph" control $pid hooks >hooks 2>&1 || true
	! grep -q tiny hooks || break
	sleep 0.05
done
has hooks tiny
hasnt hooks _start
hasnt hooks request
kill $pid
[ $failures = 0 ]

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Waits among tiny calls, at default time stamps: each lies in the function that waited, as long as the program's own clock
# has it, whatever it waits by; with scheduling events, without, and without the kernel asking.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

# How much of each function's time replay tells, and whether info says that waits are timed.
cat >check.py <<'PYTHON'
import collections, json, sys

truth = {name: int(ns) for name, ns in (line.split() for line in open("truth"))}
rounds, asked, exact = 20, sys.argv[1] == "asked", sys.argv[2] == "events"
told, begins = collections.defaultdict(list), {}
for line in open("tsv"):
    if line.startswith("#"):
        continue
    f = line.rstrip("\n").split("\t")
    if not f[7].startswith("wait_"):
        continue
    if f[0] == "B":
        begins[f[7]] = int(f[1])
    elif f[0] == "E":
        told[f[7]].append(int(f[1]) - begins.pop(f[7]))
assert sorted(told) == sorted(truth), (sorted(told), sorted(truth))
wrong = []
for name, list in told.items():
    assert len(list) == rounds, (name, len(list))
    # Nothing waits less than 2 ms, and what a busy machine adds is in both.
    if sum(d < 1_900_000 for d in list) > (0 if exact else 1):
        wrong.append((name, list))
    if not 0.9 < sum(list) / truth[name] < 1.1:
        wrong.append((name, sum(list), truth[name]))
assert bool(wrong) != asked, wrong or "right, though nobody asked"
info = json.load(open("info.json"))
assert {t["timed_after_waits"] for t in info["threads"]} == {asked}
PYTHON

check() { # WHAT asked|not events|none [NAME=VALUE…]
	local what=$1 asked=$2 events=$3
	shift 3
	crash 134 env EPITAPH_RING=8M EPITAPH_MEMORY=64M "$@" ./asks 20
	mv stdout truth
	"$EPITAPH" replay --format=tsv core >tsv 2>err || fail "$what: replay: $(cat err)"
	"$EPITAPH" info --json core >info.json || fail "$what: info"
	python3 check.py "$asked" "$events" || fail "$what"
	"$EPITAPH" info core >info.txt
	if [ "$asked" = asked ]; then
		grep -q '^settings .*, and after each wait' info.txt || fail "$what: $(grep settings info.txt)"
	else
		grep -q '^settings .*, but not after each wait' info.txt || fail "$what: $(grep settings info.txt)"
	fi
}

build() { # NAME ARGUMENT…
	local name=$1
	shift
	"$BIN/epitaph-cc" -O1 -g "$@" "$TOP/tests/programs/asks.c" -o asks -pthread || fail "$name is not built"
}

build "gcc"
check "gcc" asked none EPITAPH_SCHED=off
check "gcc, with events" asked events
check "gcc, without glibc's area" not none EPITAPH_SCHED=off GLIBC_TUNABLES=glibc.pthread.rseq=0
for method in finstrument clang xray shared; do
	case $method in
	finstrument) build "$method" -epitaph-method=finstrument ;;
	clang) EPITAPH_CC=clang build "$method" ;;
	xray) EPITAPH_CC=clang build "$method" -epitaph-method=xray ;;
	shared) build "$method" -epitaph-runtime=shared ;;
	esac
	check "$method" asked none EPITAPH_SCHED=off
done

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# While threads trace, one forks children, others load and unload traced libraries and call into them; then all are killed.
# Each process has a file of its own; each decodes, lacks at most the record that was being written, by the program's own log,
# and names the calls into libraries that are gone.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export EPITAPH_MEMORY=2M EPITAPH_RING=64K EPITAPH_SCHED=off EPITAPH_FILE_KEEP=1000 EPITAPH_FILE_KEEP_SIZE=4G

traced upheaval upheaval
cat >plug.c <<'END'
__attribute__((noinline)) int inner(int n) { __asm__ volatile("" : "+r"(n)); return n + 1; }
int plugged(int n) { return inner(n) + 1; }
END
for library in shared own; do
	"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls -shared -fPIC plug.c -o $library.so
done

cat >compare.py <<'PY'
import json, os, struct, subprocess, sys

DAMAGE = "blocks_torn blocks_duplicate blocks_backward blocks_foreign threads_corrupt modules_corrupt".split()
LAST = 300
bad = decoded = 0


def wrong(*words):
    global bad
    bad += 1
    print(*words)


def step(n):  # tests/programs/upheaval.c
    return "step_%d" % ((n * 2654435761 % 2 ** 64 >> 7) % 4)


def read(*words):
    return subprocess.run([sys.argv[1], *words], capture_output=True, text=True)


entries = [e for e in struct.iter_unpack("<QQQ", open("log", "rb").read()) if e[1]]
for pid, begun, loads in entries:
    name = "arena.%d" % pid
    if not os.path.exists(name):
        wrong(name, "is missing, though", begun, "steps had begun")
        continue
    info = read("info", "--json", name)
    lost = json.loads(info.stdout)["lost"] if info.stdout else {}
    if any(lost[kind] for kind in DAMAGE if kind in lost):
        wrong(name, "lost", lost)
    run = read("replay", "--format=tsv", "--thread=%d" % pid, name)
    if begun < 2 and run.returncode == 2:  # not one record yet
        continue
    calls = [row.split("\t")[7] for row in run.stdout.splitlines() if row[:2] == "B\t"][-LAST:]
    # The log says what had begun: the call may be recorded already, or not yet.
    ends = [n for n in (begun, begun - 1) if calls == [step(i) for i in range(max(1, n - len(calls) + 1), n + 1)]]
    if run.returncode or run.stderr or not ends or not calls:
        wrong(name, "status", run.returncode, run.stderr, begun, "begun", len(calls), "calls, last", calls[-3:])
    decoded += 1
    if loads:
        run = read("replay", "--format=tsv", name)
        names = {row.split("\t")[7] for row in run.stdout.splitlines() if row[:2] == "B\t"}
        if run.returncode or run.stderr or names != {"step_%d" % i for i in range(4)} | {"plugged", "inner"}:
            wrong(name, "status", run.returncode, run.stderr, names)
    elif pid == entries[0][0]:
        wrong("no library was loaded and left")
if decoded < 4:
    wrong("only", decoded, "decoded")
sys.exit(bad > 0)
PY

set -m # a process group each, for the child at hand to die, too
for delay in 0.31 0.12 0.53 0.24 0.45; do
	: >dots
	EPITAPH_FILE=$PWD/arena.%p ./upheaval log ./shared.so ./own.so >dots 2>err &
	run=$!
	until [ "$(wc -c <dots)" -ge 6 ]; do sleep 0.01; done
	sleep $delay
	kill -KILL -- -$run
	wait $run 2>/dev/null && say 'it ended by itself'
	[ ! -s err ] || say "$(cat err)"
	python3 compare.py "$BIN/epitaph" || failures=$((failures + 1))
	rm -f arena.* log
done
exit $((failures > 0))

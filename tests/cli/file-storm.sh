#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# SIGKILL at 200 random moments: every file that survives decodes, and lacks at most the record that was being written, by the
# program's own log. Thousands of short threads, 100,000 signals, forks while threads trace: into files as into memory.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export EPITAPH_MEMORY=2M EPITAPH_RING=64K EPITAPH_SCHED=off

traced lasting lasting
EPITAPH_FILE_KEEP=1000 EPITAPH_FILE_KEEP_SIZE=4G EPITAPH_FILE=$PWD/storm.%p ./lasting storm 200 >log
cat >compare.py <<'PY'
import os, subprocess, sys

def step(n):  # tests/programs/lasting.c
    return "step_%d" % ((n * 2654435761 % 2 ** 64 >> 7) % 4)

bad = decoded = 0
for line in open("log"):
    pid, begun, done = map(int, line.split())
    name = "storm.%d" % pid
    if not os.path.exists(name):
        if begun:
            print("%s: missing, though %d steps had begun" % (name, begun))
            bad += 1
        continue
    run = subprocess.run([sys.argv[1], "replay", "--format=tsv", "--last", "300", name], capture_output=True, text=True)
    calls = [row.split("\t")[7] for row in run.stdout.splitlines() if row[:2] == "B\t"]
    calls = [call for call in calls if call.startswith("step_")]
    if begun < 2 and run.returncode == 2:  # not one record yet
        continue
    # The log says what had begun when it was killed: the call may be recorded already, or not yet.
    ends = [n for n in (begun, begun - 1) if calls[-300:] == [step(i) for i in range(max(1, n - len(calls[-300:]) + 1), n + 1)]]
    decoded += 1
    if run.returncode or run.stderr or not ends:
        bad += 1
        print("%s: status %d, %s; %d begun, %d done, %d calls" % (name, run.returncode, run.stderr, begun, done, len(calls)))
if bad or decoded < 40: # on a busy machine many are killed before their first step
    sys.exit("%d of %d are wrong" % (bad, decoded))
PY
python3 compare.py "$BIN/epitaph" || failures=$((failures + 1))
rm -f storm.*

# Killed the moment its file has its name: whole already, though there is not one record yet, or hardly one.
cat >early.py <<'PY'
import os, signal, subprocess, sys

for _ in range(40):
    if os.path.exists("early.file"):
        os.unlink("early.file")
    run = subprocess.Popen(["./lasting", "wait"], env=dict(os.environ, EPITAPH_FILE="early.file"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    while not os.path.exists("early.file"):
        if run.poll() is not None:
            sys.exit("it ended with %d" % run.returncode)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    info = subprocess.run([sys.argv[1], "info", "early.file"], capture_output=True, text=True)
    if info.returncode or info.stderr:
        sys.exit("killed early: status %d, %s" % (info.returncode, info.stderr))
PY
python3 early.py "$BIN/epitaph" || failures=$((failures + 1))

# The same storms as in private memory.
clean() { # FILE WORDS...: no damage of these kinds
	local file=$1 got
	shift
	"$BIN/epitaph" info --json "$file" >info.json || [ $? -eq 1 ]
	got=$(python3 -c 'import json, sys; lost = json.load(open("info.json"))["lost"]; print([(k, lost[k]) for k in sys.argv[1:] if lost[k]])' "$@")
	[ "$got" = '[]' ] || say "$file: $got"
}
ulimit -S -c 0
damage="blocks_torn blocks_duplicate blocks_backward blocks_foreign threads_corrupt modules_corrupt"
for program in storm crowd; do
	"$BIN/epitaph-cc" -O2 "$TOP/tests/programs/$program.c" -o $program -lpthread
	status=0
	{ EPITAPH_MEMORY=16M EPITAPH_RING=1M EPITAPH_FILE=$PWD/$program.file ./$program >out 2>err || status=$?; } 2>/dev/null
	[ $status -eq 134 ] || say "$program: status $status: $(cat err)"
	clean $program.file $damage
done
exit $((failures > 0))

# SPDX-License-Identifier: BSD-2-Clause
# The options that choose calls choose the same ones for an export as for replay, alone and together.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >calls.py <<'END'
# calls.py: in each folder, tsv and jsonl have the same calls, by thread, name, depth, begin and end.
import json, os, sys
from collections import Counter, defaultdict


def compare(folder):
    tsv, jsonl, gaps = Counter(), Counter(), [0, 0]
    open_ = defaultdict(list)
    lines = open(folder + "/tsv", encoding="utf-8")
    columns = next(lines).lstrip("# ").rstrip("\n").split("\t")
    for line in lines:
        row = dict(zip(columns, line.rstrip("\n").split("\t")))
        if row["event"] == "G":
            gaps[0] += 1
        if row["event"] not in "BE":
            continue
        key = (int(row["tid"]), row["function"], int(row["depth"]))
        if row["event"] == "B":
            open_[key].append(int(row["time_ns"]))
        else:
            begin = None if "began-before" in row["flags"] else open_[key].pop()
            tsv[key + (begin, int(row["time_ns"]))] += 1
    for key, begins in open_.items():
        for begin in begins:
            tsv[key + (begin, None)] += 1
    for line in open(folder + "/jsonl", encoding="utf-8"):
        call = json.loads(line)
        gaps[1] += call["type"] == "gap"
        if call["type"] == "call":
            jsonl[call["tid"], call["function"], call["depth"], call["begin_ns"], call["end_ns"]] += 1
    missing, more = list((tsv - jsonl).elements()), list((jsonl - tsv).elements())
    if missing or more or gaps[0] != gaps[1]:
        print(open(folder + "/options").read(), "missing:", missing[:5], "more:", more[:5], "gaps:", gaps)


for folder in sorted(os.listdir("choices")):
    compare("choices/" + folder)
END

compared=0
chooses() { # CORE OPTIONS...: the same calls, or none, in both; compared at the end
	local core=$1 status=0 folder
	shift
	"$EPITAPH" replay --format=tsv "$@" "$core" >tsv 2>err || status=$?
	gives $status "$EPITAPH" export -f jsonl "$@" "$core"
	[ $status -ne 2 ] || return 0 # times depend on the machine
	[ $status -eq 0 ] || say "$core $*: status $status"
	compared=$((compared + 1))
	folder=choices/$compared
	mkdir -p $folder
	echo "$core $*:" >$folder/options
	mv tsv $folder/tsv
	mv out $folder/jsonl
}

# Thread after thread, deep and shallow, waiting and not; with and without a beginning.
cat >mixed.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int sink;
#define KEPT __attribute__((noinline, noclone)) static void
KEPT leaf(void) { sink++; }
KEPT twig(int n) { for (int i = 0; i < n; i++) leaf(); sink++; }
KEPT deep(int n) { if (n) deep(n - 1); else twig(3); sink++; }
KEPT waits(void) { usleep(2000); leaf(); sink++; }
KEPT work(int n) { for (int i = 0; i < n; i++) { twig(5); deep(i % 7); if (i % 50 == 49) waits(); } sink++; }
static void *thread(void *n) { work((int)(long)n); return NULL; }
KEPT dies(void) { leaf(); abort(); }
int main(void)
{
	pthread_t threads[3];
	for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, thread, (void *)(60 + 40 * i));
	work(100);
	for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
	twig(4);
	dies();
}
END
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls mixed.c -o mixed -lpthread
EPITAPH_TIMESTAMP_EVERY=1 crash core.mixed "$PWD/mixed"
EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_RING=8K crash core.wrapped "$PWD/mixed"
traced pauses pauses
crash core.pauses "$PWD/pauses"

for core in core.mixed core.wrapped; do
	chooses $core
	for options in --last=1 --last=7 --last=200 --last=100000 --last=1ms --last=5ms --since=-3ms --since=+1ms --until=-1ms \
		--until=+2ms --depth=1 --depth=3 --min-duration=1us --min-duration=500us --function=leaf --function='[dt]*' \
		--thread='#1' --thread='#3' '--last=20 --depth=2' '--last=9 --min-duration=300ns' '--since=-4ms --until=-1ms' \
		'--last=30 --until=-2ms' '--last=12 --function=deep' '--last=40 --thread=#2' '--since=-5ms --last=15 --depth=4'; do
		# shellcheck disable=SC2086
		chooses $core $options
	done
done
chooses core.pauses
chooses core.pauses --last=2
python3 calls.py >differences
[ ! -s differences ] || say "$(cat differences)"
[ $compared -ge 30 ] || say "only $compared of 50 choices had calls"
exit $((failures != 0))

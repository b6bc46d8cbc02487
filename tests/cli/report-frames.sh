# SPDX-License-Identifier: BSD-2-Clause
# Stacks of threads that did not die: as deep as asked, down to the thread's beginning in usual programs, and what is left out is told.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >deep.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t met;
static volatile int *nowhere;
__attribute__((noinline)) int descend(int depth)
{
	if (depth > 1)
		return descend(depth - 1) + 1;
	pthread_barrier_wait(&met);
	for (;;)
		pause();
}
__attribute__((noinline)) static void *begin(void *depth)
{
	descend(*(int *)depth);
	return NULL;
}
int main(int count, char **words)
{
	static int depths[8];

	pthread_barrier_init(&met, NULL, (unsigned)count);
	for (int i = 1; i < count; i++) {
		pthread_t thread;

		depths[i] = atoi(words[i]);
		pthread_create(&thread, NULL, begin, &depths[i]);
	}
	pthread_barrier_wait(&met);
	return *nowhere;
}
END
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls deep.c -o deep -lpthread
crash core.deep "$PWD/deep" 30 70 400

# Frames of descend in each stack and open calls of it, in the order of depths: "30+begin 40 40, …".
stacks() {
	gives 0 "$EPITAPH" report "$@" core.deep
	awk '$1 == "stack" { print gsub(/(^| )descend/, ""), / < begin < /, /more than/ ? "more-than" : /[0-9]+ more \(--all/ ? "more" : "whole" }' out |
		sort -n | uniq | tr '\n' ',' | tr ' ' '/'
}

# 40 frames are shown, at least one of which is in the C library.
got=$(stacks --threads=16)
[[ $got =~ ^30/1/whole,(3[789]/0/more(,|-than,))+$ ]] || { say "40 frames: $got"; cat out; }
inner=$(grep -m1 '^  stack .*more than' out | tr '<' '\n' | grep -vc 'descend\|…')
has out "< … more than 200 more (--all shows them)"
# All frames of 70 calls but the 40: begin, start_thread and clone3 are outside of them.
grep -qE "< … $((70 + inner + 3 - 40)) more \(--all" out || { say 'how many more'; grep '^  stack' out; }
grep -qE 'open calls .* < … 31 more$' out || { say 'open calls'; grep '^  open calls' out; }

got=$(stacks --frames=75)
[[ $got =~ ^30/1/whole,70/1/whole,7[234]/0/more-than,$ ]] || say "--frames=75: $got"
got=$(stacks --all)
[ "$got" = 30/1/whole,70/1/whole,400/1/whole, ] || say "--all: $got"
got=$(stacks --frames=0)
[[ $got =~ ^0/0/more(-than)?, ]] || say "--frames=0: $got"
gives 64 "$EPITAPH" report --frames=x core.deep
has err '--frames=x: a number'

# The same for programs.
gives 0 "$EPITAPH" report --json core.deep
python3 - <<'END' || say 'rows of the JSON'
import json
stacks = [t["stack"] for t in json.load(open("out"))["threads"][1:]]
told = sorted((sum("frame" in row for row in s["rows"]), s["end"], s.get("frames_left_out", 0)) for s in stacks)
assert told[0][0] < 40 and told[0][1:] == ("start", 0), told
assert told[1][:2] == told[2][:2] == (40, "limit"), told
assert 30 < told[1][2] < 50 and told[2][2] == 200, told
END
exit $((failures != 0))

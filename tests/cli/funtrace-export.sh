#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# export -f funtrace: what a reader written here, by the format's description alone and in the manner of funtrace2viz, makes of
# the file is the program's calls; and read as a SOURCE again it tells the same as the core that it was made of.
# sanitized only
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

export PYTHONPATH="$TOP/tests/cli/lib" PYTHONDONTWRITEBYTECODE=1

exported() { # CORE OPTIONS...: to raw
	local core=$1
	shift
	gives "${status:-0}" "$EPITAPH" export -f funtrace -o raw "$@" "$core"
}

# The same as JSON, of two sources: events equal, times to within a tick of 8 cycles twice, at 800 MHz.
cat >same.py <<'END'
import json, sys
def events(path):
    return [e for e in json.load(open(path))["traceEvents"] if e["ph"] in "XB"]
one, other = events(sys.argv[1]), events(sys.argv[2])
key = lambda e: (e["tid"], e["name"], e["ph"])
assert [key(e) for e in one] == [key(e) for e in other], (len(one), len(other))
assert len(one) >= int(sys.argv[3]), len(one)
shift = one[0]["ts"] - other[0]["ts"]
for a, b in zip(one, other):
    assert abs(a["ts"] - b["ts"] - shift) < 0.02, (a, b)
    left = ["left without a return" in e.get("args", {}).get("ended", "") for e in (a, b)]
    assert left[0] == left[1], (a, b)
    # When it was left the file cannot tell: where its caller goes on, at the latest.
    assert left[0] or abs(a.get("dur", 0) - b.get("dur", 0)) < 0.02, (a, b)
END
same() { # CORE LEAST
	"$EPITAPH" export -f viztracer "$1" >one.json 2>err || [ $? -eq 1 ] || say "$1 as viztracer"
	"$EPITAPH" export -f viztracer raw >other.json 2>err || [ $? -eq 1 ] || say "$1, as a funtrace.raw, as viztracer"
	python3 same.py one.json other.json "$2" || say "$1: its funtrace.raw tells other calls"
}

# A program whose calls are known, times all exact.
cp "$TOP/tests/programs/story.c" story.c
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls story.c -o story
EPITAPH_TIMESTAMP_EVERY=1 crash core.story "$PWD/story"
exported core.story
cat >story.py <<'END'
from funtrace import Raw
raw = Raw("raw")
assert raw.chunks[:4] == [b"PROCMAPS", b"BUILDIDS", b"FUNTRACE", b"CMD LINE"], raw.chunks
assert raw.command.endswith("/story"), raw.command
assert 10**8 < raw.hz < 10**10
(pid, tid, name), entries, unused = raw.threads[0]
assert pid == tid and name == "story" and unused == 1
calls = raw.calls(entries)
names = [c[1] for c in calls]
want = "main first leaf second leaf leaf jumps thrower slow leaf recursive recursive recursive last fall"
assert names == want.split(), names
open_calls = [c[1] for c in calls if c[3] is None]
assert open_calls == ["main", "last", "fall"], open_calls
slow = calls[names.index("slow")]
assert 0.020 <= (slow[3] - slow[2]) / raw.hz < 10, slow
END
python3 story.py || say 'the story is another one'
same core.story 15
gives 0 "$EPITAPH" info raw
grep -E 'whole$' out >/dev/null || say 'the history is whole in both'
# Again and again it is the same file.
mv raw first
exported first
cmp raw first || say 'a funtrace.raw of a funtrace.raw is another one'
# Only what was asked for.
exported core.story --last=2
python3 -c '
from funtrace import Raw
raw = Raw("raw")
assert [c[1] for c in raw.calls(raw.threads[0][1])] == ["last", "fall"] or \
       [c[1] for c in raw.calls(raw.threads[0][1])] == ["main", "last", "fall"], raw.calls(raw.threads[0][1])
assert raw.threads[0][2] == 0 or raw.calls(raw.threads[0][1])[0][1] == "main"' || say '--last=2'

# Sparse times: order stays, and the same comes back.
EPITAPH_TIMESTAMP_EVERY=64 crash core.sparse "$PWD/story"
exported core.sparse
python3 -c '
from funtrace import Raw
raw = Raw("raw")
assert len(raw.calls(raw.threads[0][1])) == 15' || say 'sparse times'

# A fixed program, threads, a ring that was overwritten a hundred times, half open.
"$BIN/epitaph-cc" -g -O1 -no-pie -fno-optimize-sibling-calls "$TOP/tests/programs/deaths.c" -o fixed -lpthread
EPITAPH_TIMESTAMP_EVERY=1 crash core.two "$PWD/fixed" null thread
exported core.two
python3 -c '
from funtrace import Raw
raw = Raw("raw")
names = {who[2]: [c[1] for c in raw.calls(e)] for who, e, _ in raw.threads}
assert set(names) == {"fixed", "second"} and "die_null" in names["second"], names' || say 'two threads of a fixed program'
same core.two 2
EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_RING=16K crash core.over "$PWD/fixed" overflow
exported core.over
python3 -c '
from funtrace import Raw
raw = Raw("raw")
assert all(unused == 0 for _, _, unused in raw.threads), "its beginning was overwritten"' || say 'what was overwritten is whole'
same core.over 1000

# C++ exceptions: calls that were left end where they were left, whoever reads.
cat >throws.cc <<'END'
#include <csignal>
#define NI __attribute__((noinline))
volatile int n;
NI void thrower(int depth) { if (depth == 0) throw 1; thrower(depth - 1); n++; }
NI void through() { thrower(2); n++; }
NI void after() { n++; }
NI int catcher() { try { through(); } catch (int) { after(); } after(); return n; }
int main() { catcher(); catcher(); std::raise(SIGABRT); return 0; }
END
for how in 'gcc' 'gcc -epitaph-method=finstrument' 'clang'; do
	case $how in clang*) export EPITAPH_CC=clang EPITAPH_CXX=clang++ ;; *) unset EPITAPH_CC EPITAPH_CXX ;; esac
	flags=${how#gcc} flags=${flags#clang}
	# shellcheck disable=SC2086
	"$BIN/epitaph-c++" $flags -g -O1 -fno-optimize-sibling-calls throws.cc -o throws
	EPITAPH_TIMESTAMP_EVERY=1 crash core.throws "$PWD/throws"
	exported core.throws
	python3 - <<-'PY' || say "$how: exceptions"
	from funtrace import Raw
	raw = Raw("raw")
	calls = raw.calls(raw.threads[0][1])
	short = lambda name: next(x for x in ("thrower", "through", "after", "catcher", "main") if x in name)
	tree = [(c[0], short(c[1])) for c in calls]
	once = [(1, "catcher"), (2, "through"), (3, "thrower"), (4, "thrower"), (5, "thrower"), (2, "after"), (2, "after")]
	assert tree == [(0, "main")] + once + once, tree
	assert [short(c[1]) for c in calls if c[3] is None] == ["main"]
	PY
	same core.throws 15
done

# Nothing is written for nothing, and a file appears whole or not at all.
gives 2 "$EPITAPH" export -f funtrace -o none --function='no_such_*' core.story
[ ! -e none ] || say 'a file for nothing'
gives 3 "$EPITAPH" export -f funtrace -o /dev/full core.story
gives 0 "$EPITAPH" export -f funtrace core.story
"$EPITAPH" export -f funtrace -o raw core.story
cmp out raw || say 'stdout and -o differ'
exit $((failures != 0))

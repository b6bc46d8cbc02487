# SPDX-License-Identifier: BSD-2-Clause
"""switched_truth.py: the files "truth" and "switches" (tests/programs/switched_truth.c wrote them) and "tsv" (epitaph replay of
records that all have times) go together: each call that is shown was made, inside of the one that it is shown in; each return
ends its own call; nobody is said to be left who was not; and away from the switches of a function all of its calls are there."""
import bisect, sys
from collections import defaultdict

STEADY = {"f8", "f9", "f10", "f11"}

class Call:
    def __init__(self, function, begin, parent):
        self.function, self.begin, self.parent = function, begin, parent
        self.since = self.until = None # its hooks ran after the one and before the other; None: nothing is known
        self.end, self.left, self.shown, self.matched, self.steady = None, False, False, False, function in STEADY

def read_truth():
    calls, stacks = defaultdict(list), defaultdict(list)
    last = {} # of each thread: the time that it noted before, and the call that ended with that
    for line in open("truth"):
        tid, kind, function, tsc = line.split()
        stack = stacks[tid]
        noted, over = last.get(tid, (0, None))
        if over:
            over.until = int(tsc)
        if kind == "B":
            stack.append(Call(function, int(tsc), stack[-1] if stack else None))
            calls[tid].append(stack[-1])
            stack[-1].since = noted
            last[tid] = int(tsc), None
        else:
            call = stack.pop()
            assert call.function == function
            call.end, call.left = int(tsc), kind == "U"
            last[tid] = int(tsc), call
    return calls

def read_told():
    told = defaultdict(list)
    for line in open("tsv"):
        kind, time, low, high, tid, _, _, function, _, _, flags, *_ = line.rstrip("\n").split("\t")
        if kind in "BESG":
            told[tid].append((kind, function, int(time), set(flags.split(","))))
    return told

calls, told = read_truth(), read_told()
assert len(calls) == 4 and sorted(calls) == sorted(told), (sorted(calls), sorted(told))

# Calls of functions that were left alone are all there, and tell which time is which.
points = []
for tid in calls:
    want = [c for c in calls[tid] if c.steady]
    have = [e for e in told[tid] if e[0] == "B" and e[1] in STEADY]
    assert [c.function for c in want] == [e[1] for e in have], (tid, len(want), len(have))
    points += [(c.begin, e[2]) for c, e in zip(want, have)]
points.sort()
# A hook runs before the program takes its own time, at most a preemption earlier: those that had none give the rate.
third = len(points) // 3
ends = points[0], points[-1]
for _ in range(8):
    (x0, y0), (x1, y1) = ends
    rate = (y1 - y0) / (x1 - x0)
    ends = [max(part, key=lambda p: p[1] - p[0] * rate) for part in (points[:third], points[-third:])]
shift = max(y - x * rate for x, y in points)
ns = lambda tsc: tsc * rate + shift
GRAIN = 2000 # ns; where it chooses among calls, that between a hook and what the program notes is the bound

offs = defaultdict(list)
for line in open("switches"):
    function, off, on = line.split()
    offs[function].append((ns(int(off)), ns(int(on)) if on != "0" else float("inf")))

def is_above(caller, call):
    while call and call is not caller:
        call = call.parent
    return call is caller

ended = cut = exact = 0
for tid in calls:
    by_function = defaultdict(list)
    for c in calls[tid]:
        by_function[c.function].append(c)
    begins = {f: [ns(c.begin) for c in of] for f, of in by_function.items()}
    stack = []
    for kind, function, time, flags in told[tid]:
        assert kind in "BE", (tid, kind, function, time, flags)
        if kind == "B":
            at = bisect.bisect_left(begins[function], time - 30)
            while at < len(begins[function]) and by_function[function][at].shown:
                at += 1
            assert at < len(begins[function]), (tid, function, time)
            call = by_function[function][at]
            call.shown = True
            assert not stack or is_above(stack[-1], call), (tid, function, time, stack[-1].function, ns(stack[-1].begin))
            stack.append(call)
            continue
        assert not flags & {"abandoned", "began-before", "stray"} or "unwound" in flags, (tid, function, time, flags)
        call = stack.pop()
        assert call.function == function
        if "switched-off" in flags:
            assert not call.steady and (call.end is None or time <= ns(call.end) + GRAIN + 10**7), (tid, function, time)
            cut += 1
        elif "unwound" in flags:
            assert call.left, (tid, function, time)
        else:
            assert call.end and not call.left and time >= ns(call.end) - GRAIN, (tid, function, time, call.end and ns(call.end))
            call.matched = True
            ended += 1
    for call in calls[tid]:
        if call.left or not call.end or not call.until:
            continue
        of = offs[call.function]
        known = of[-3][0] if len(of) > 3 else 0
        near = 50000
        if ns(call.since) - near > known and \
                all(ns(call.until) + near < off or ns(call.since) - near > on for off, on in of):
            assert call.matched, (tid, call.function, ns(call.begin), ns(call.end), of)
            exact += not call.steady
if not (cut > 100 and ended > 5000 and exact > 100):
    print("true, but too little was switched: %d cut, %d ended, %d exact" % (cut, ended, exact), file=sys.stderr)
    sys.exit(3)
print("equal: %d ended, %d cut, %d of switched functions exact, %d switches" % (ended, cut, exact, sum(map(len, offs.values()))), file=sys.stderr)

# SPDX-License-Identifier: BSD-2-Clause
"""truth.py returns|leaves whole|cut: the files "truth" (tests/programs/truth.cc
wrote it) and "tsv" (epitaph replay) tell the same calls, thread by thread and in
order. returns: the hooks tell of calls that an exception left as of returns.
cut: the ring was overwritten, the log's end is compared. Status 0: equal."""
import re, sys
from collections import Counter, defaultdict

unwinding_returns, whole = sys.argv[1] == "returns", sys.argv[2] == "whole"
truth, told = defaultdict(list), defaultdict(list)
left, abandoned = defaultdict(Counter), defaultdict(Counter)
opened, flags_seen = defaultdict(list), Counter()

def short(name):
    for pattern, text in ((r"\bf<(\d+), (\d+)>\(", "f{}.{}"), (r"^both<(\d+)>::go\(", "go{}.0"), (r"^run\(", "run0.0"),
                          (r"^last_words\(", "last0.0")):
        found = re.search(pattern, name)
        if found:
            return text.format(*found.groups())

for line in open("truth"):
    tid, kind, name = line.split()
    if kind == "U":
        left[tid][name] += 1
        kind = "E" if unwinding_returns else None
    if kind:
        truth[tid].append((kind, name))

for line in open("tsv"):
    kind, _, low, high, tid, _, _, function, _, _, flags, *_ = line.rstrip("\n").split("\t")
    name = short(function)
    if kind not in "BE" or not name:
        assert kind != "S" or "thunk" in function, line
        continue
    assert high == "-" or int(low) <= int(high), line
    if "abandoned" in flags:
        abandoned[tid][name] += 1
        opened[tid].remove(name) if name in opened[tid] else None
        continue
    flags_seen.update(flags.split(","))
    told[tid].append((kind, name))

assert len(truth) == 5 and sorted(truth) == sorted(told), (sorted(truth), sorted(told))
for tid in truth:
    want, have = truth[tid], told[tid]
    if whole:
        assert len(want) == len(have), (tid, len(want), len(have))
    assert len(have) > 500 or want[-1] == ("B", "last0.0"), (tid, len(have))
    for i, (a, b) in enumerate(zip(reversed(want), reversed(have))):
        assert a == b, "thread %s, %d from the end: true %s, told %s" % (tid, i, a, b)
    if whole and not unwinding_returns:
        # All that was thrown out of was left; nothing else was.
        assert left[tid] == abandoned[tid], (tid, left[tid] - abandoned[tid], abandoned[tid] - left[tid])
assert whole != ("began-before" in flags_seen), flags_seen
print("equal")

# SPDX-License-Identifier: BSD-2-Clause
# Compares a program's own log, the file "truth" (tid, kind, name), with the tab-separated replay in
# the file "tsv". ENDS: "told" when ends by exception or longjmp must be flagged as such and no others; "any" where compilers
# call the return hook in clean-up code.
import re
import sys
from collections import defaultdict

ENDS = sys.argv[1]
SPECIAL = {"cleaner::~cleaner": "clean"}
POINTS = {"throw": "T", "rethrow": "R", "catch": "C", "longjmp": "J"}
TYPES = {"plain": "flow::odd", "cleans": "int", "clean": "int"}


def read_truth():
    truth = defaultdict(list)
    for line in open("truth"):
        tid, kind, name = line.split()
        truth[tid].append((kind, name))
    return truth


def read_told():
    told = defaultdict(list)
    for line in open("tsv"):
        columns = line.rstrip("\n").split("\t")
        kind, tid, function, flags = columns[0], columns[4], columns[7], columns[10].split(",")
        found = re.match(r"flow(?:::|_)([\w:~]+)", function)
        if kind not in "BESP" or not found or found[1].startswith("odd"):
            continue
        assert kind != "S" and "ambiguous" not in flags, line
        name = SPECIAL.get(found[1], found[1])
        if kind == "E" and "abandoned" in flags:
            assert "unwound" in flags, line
            kind = "U"
        if kind == "P":
            what, _, text = columns[10].partition(" ")
            kind = POINTS[what]
            assert text == (TYPES[name] if kind == "T" else ""), line
        told[tid].append((kind, name))
    return told


def plain(events):
    return [("E" if kind == "U" else kind, name) for kind, name in events] if ENDS == "any" else events


truth, told = read_truth(), read_told()
assert truth and sorted(truth) == sorted(told), (sorted(truth), sorted(told))
for tid, events in truth.items():
    want, have = plain(events), plain(told[tid])
    for i, (a, b) in enumerate(zip(want, have)):
        assert a == b, "thread %s, event %d: true %s, told %s, after %s" % (tid, i, a, b, want[max(0, i - 8):i])
    assert len(want) == len(have), (tid, len(want), len(have))

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""long_calls.py EPITAPH PROGRAM CORE TRUTH COUNTS: of gdb's stack of CORE, made
with the default budget, the functions that run long are in the trace.

Who runs long is told by other runs of the same work, killed later: TRUTH is the
core of one with EPITAPH_MIN_DURATION, where each call of 200 us and more is
recorded and no function is ever switched off. A call takes twice as long at
most for its hooks, so it takes 100 us without them. COUNTS is the core of one
with EPITAPH_MODE=count.

In CORE each such function of the stack has its open call with its begin, or is
said to be older than the history, or to be switched off: that only where fewer
than one call in 64 ran long, which is what docs/overhead.md says of the budget."""

import collections
import csv
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader(
    "agree", os.path.join(os.path.dirname(__file__), "..", "demo", "agree"))
agree = importlib.util.module_from_spec(importlib.util.spec_from_loader("agree", loader))
loader.exec_module(agree)

LONG_NS = 200000
FEW = 64
MISSING = "MISSING"


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"long_calls: {' '.join(words)} ended with {done.returncode}")
    return done.stdout


def long_calls(epitaph, truth):
    """function → its calls that ran long, on a processor where that is known, or are open."""
    found, begun = collections.Counter(), {}
    lines = run(epitaph, "replay", "--format=tsv", truth).splitlines()
    columns = lines[0].lstrip("# ").split("\t")
    for line in lines[1:]:
        if line.startswith("#"):
            continue
        row = dict(zip(columns, line.split("\t")))
        place = row["tid"], row["depth"]
        if row["event"] == "B":
            begun[place] = int(row["time_ns"])
            found[row["function"]] += "did-not-return" in row["flags"]
        elif row["event"] == "E" and place in begun:
            took = int(row["time_ns"]) - begun.pop(place)
            ran = took if row["on_cpu_ns"] == "-" else int(row["on_cpu_ns"])
            found[row["function"]] += ran >= LONG_NS
    return +found


def calls(epitaph, counts):
    """function → how many calls of it there are."""
    found = collections.Counter()
    for row in csv.DictReader(run(epitaph, "count", "report", "--csv", counts).splitlines()):
        found[row["function"]] += int(row["calls"])
    return found


def rows_of(epitaph, core):
    report = json.loads(run(epitaph, "report", "--all", "--json", core))
    return [row for row in report["threads"][0]["stack"]["rows"] if "frame" in row]


def beside(names, rows):
    """The rows of gdb's functions, in order. agree has shown that all are there."""
    at = 0
    for name in names:
        word = re.compile(rf"(?<!\w){agree.any_name(name)}(?!\w)")
        while at < len(rows) and not word.search(rows[at]["function"]):
            at += 1
        if at == len(rows):
            sys.exit(f"long_calls: the report has no frame of {name}")
        yield rows[at]
        at += 1


def judge(row, seldom):
    if row["verdict"] in ("agree", "entering", "returning"):
        return "in the trace"
    if (row["verdict"], row.get("reason")) == ("trace-lost", "before-history"):
        return "older than the history"
    if row.get("reason") == "switched-off" and seldom:
        return "off, seldom long"
    return MISSING


def main():
    epitaph, program, core, truth, counts = sys.argv[1:]
    long, all_calls = long_calls(epitaph, truth), calls(epitaph, counts)
    found = collections.defaultdict(list)
    for row in beside(agree.gdb_functions(program, core), rows_of(epitaph, core)):
        name = row["function"]
        if long[name]:
            found[judge(row, all_calls[name] > FEW * long[name])].append(name)
    if not found:
        sys.exit("long_calls: no function of the stack runs long")
    print("of the stack's functions that run long",
          "; ".join(f"{len(names)} {what} ({', '.join(names)})"
                    for what, names in sorted(found.items())))
    return 1 if MISSING in found else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-2-Clause
# waiting.py FOLDER: what epitaph tells of tests/programs/waiting.c (stats.json, waits.json, collapsed) against what the
# program measured itself (stdout). All figures are of one run, so that load changes them alike.
import json
import os
import sys

folder = sys.argv[1]
# Every call has a time of its own, or one is asked for after each wait.
waits_are_certain = not folder.endswith("-64")
# function: the functions that it may be somewhere inside of
outer = {
    "book": ["locks"], "reserve": ["locks_too"], "doze": ["sleeps"], "fetch": ["reads"], "listen_for": ["polls"],
    "await": ["signalled"], "decrease": ["counts"], "pick": ["selects"], "first": ["alternates"],
    "second": ["alternates"], "leaf": ["branch", "nests"], "bottom": ["recurses"], "itself": [],
}


def read(name):
    with open(os.path.join(folder, name)) as file:
        return json.load(file)


stats = read("stats.json")
rows = {row["function"]: row for row in stats["functions"]}
waits = read("waits.json")
with open(os.path.join(folder, "stdout")) as file:
    measured = {name: int(ns) for name, ns in (line.split() for line in file)}
with open(os.path.join(folder, "collapsed")) as file:
    folded = [line.rsplit(" ", 1) for line in file]


def check(holds, words):
    if not holds:
        sys.exit(f"{folder}: {words}\n{json.dumps(rows, indent=1)}\n{waits}\n{measured}")


def value(name, key):
    return rows.get(name, {}).get(key, 0)


# A thread is made to wait for a CPU anywhere, also where its function has not looked at the clock yet, or has already: what it is
# told to have waited for one is held to what all measured, what it is told to have slept to its own.
def for_cpu(name):
    slept = sum(w["total_ns"] for w in waits["waits"] if w["function"] == name)
    return max(0, value(name, "waiting_ns") - slept)


nobodys = stats["unplaced_ns"]
check(sum(value(name, "waiting_ns") for name in measured) <= sum(measured.values()) * 1.05, "all wait longer than they measured")
check(set(measured) == set(outer), measured)
for name, ns in measured.items():
    told = value(name, "waiting_ns")
    marked = sum(value(where, "inside_ns") for where in outer[name])
    check(told - for_cpu(name) <= ns * 1.05 + 50_000, f"{name} waited {ns}, {told} told, {for_cpu(name)} of them for a CPU")
    unknown = value(name, "unknown_ns")  # recording may have begun late
    check(told + marked + nobodys + unknown >= ns * 0.95,
          f"{name} waited {ns}, {told} told, {marked} marked, {nobodys} nobody's, {unknown} unknown")
    # A flame graph has the same, and what is marked apart.
    own = sum(int(n) for stack, n in folded if stack.split(";")[-1] == name)
    check(own <= ns * 1.05 + value(name, "on_cpu_ns") * 1.05 + for_cpu(name) + 100_000, f"{name}: {own} in collapsed, {ns} measured")
    if waits_are_certain:
        check(told + unknown >= ns * 0.95, f"{name} waited {ns}, {told} told, though waits are timed")
if waits_are_certain:
    # Of those that are asked for, one in 64 is at the place of one that is due; and then another wait may follow at once.
    most = 0 if folder.endswith("-1") else waits["waited_ns"] * 0.02
    check(nobodys <= most and max(row["inside_ns"] for row in rows.values()) <= most, "marks, though waits are timed")
else:
    check(any("[waited somewhere inside]" in stack for stack, _ in folded), "no mark in collapsed")
    # What has one call only that can wait is given to it.
    for name in "book", "doze", "fetch", "listen_for", "pick", "leaf":
        mine = sum(w["total_ns"] for w in waits["waits"] if w["function"] == name and not w["inside"])
        all_of_it = mine + sum(w["total_ns"] for w in waits["waits"] if w["function"] in outer[name])
        check(mine >= all_of_it * 0.9, f"{name}: {mine} of {all_of_it}")

# What computes does not wait, but for a CPU, or for memory.
check(sum(w["total_ns"] for w in waits["waits"] if w["function"] == "fib") <= waits["waited_ns"] * 0.01, "fib waits")
check(value("fib", "total_ns") - value("fib", "waiting_ns") <= sum(row["on_cpu_ns"] for row in rows.values()),
      "fib takes longer than all threads ran")

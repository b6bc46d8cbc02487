#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare.py OURS UFTRACE: call by call, what epitaph and uftrace recorded of
the same program.

OURS: `epitaph replay --format=tsv` of one thread. UFTRACE: `uftrace dump`.
The sequence of the first 50,000 events (call or return, function, depth) and the
multiset of all calls (function, depth) must be equal. Every difference is
printed. Exit status 0: equal.

Written down before the first comparison, the differences that the two cannot
both see and that are therefore kept out of the compared program:
- longjmp: Lua's error path and coroutines. short.lua has neither.
- tail calls: uftrace learns of a return from a replaced return address, so that
  a tail-calling function ends when its callee does; the hooks of epitaph are
  called before the jump. Both are built with -fno-optimize-sibling-calls.
Nothing else is allowed."""

import collections
import re
import sys

FIRST = 50_000
SHOWN = 20


def ours(path):
    """(B or E, function, depth) from the tab-separated replay."""
    with open(path, encoding="utf-8") as lines:
        head = None
        for line in lines:
            if line.startswith("#"):
                head = head or line[1:].strip().split("\t")
                continue
            row = dict(zip(head, line.rstrip("\n").split("\t")))
            if row["event"] not in ("B", "E"):
                sys.exit(f"unexpected event: {line!r}")
            yield row["event"], row["function"], int(row["depth"])


def uftraces(path):
    """The same from uftrace's raw dump."""
    pattern = re.compile(r"\[(entry|exit )\] (\S+?)\([0-9a-f]+\) depth: (\d+)")
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if "LOST" in line:
                sys.exit(f"uftrace lost records: {line!r}")
            found = pattern.search(line)
            if found:
                yield ("B" if found[1] == "entry" else "E", found[2],
                       int(found[3]))


def until_the_end(events):
    """What comes before short.lua's last line, where the snapshot is taken."""
    for event in events:
        if event[:2] == ("B", "os_execute"):
            return
        yield event


def main():
    left = list(until_the_end(ours(sys.argv[1])))
    right = list(until_the_end(uftraces(sys.argv[2])))
    if not left or not right:
        sys.exit(f"nothing to compare: {len(left)} and {len(right)} events")
    differences = 0
    for at, (one, other) in enumerate(zip(left[:FIRST], right[:FIRST])):
        if one != other:
            differences += 1
            if differences <= SHOWN:
                print(f"event {at}: epitaph {one}, uftrace {other}")
    calls = [collections.Counter((e[1], e[2]) for e in side if e[0] == "B")
             for side in (left, right)]
    for key in sorted(set(calls[0]) | set(calls[1])):
        if calls[0][key] != calls[1][key]:
            differences += 1
            print(f"{key[0]} at depth {key[1]}: epitaph {calls[0][key]} calls, "
                  f"uftrace {calls[1][key]}")
    compared = min(FIRST, len(left), len(right))
    print(f"compared {compared} events in order, "
          f"{sum(calls[0].values())} and {sum(calls[1].values())} calls of "
          f"{len(set(k[0] for k in calls[0]))} functions in all: "
          f"{differences} differences")
    sys.exit(differences != 0 or len(left) < FIRST)


if __name__ == "__main__":
    main()

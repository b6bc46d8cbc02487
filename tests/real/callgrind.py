#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""callgrind.py COUNTS.csv GRIND PROGRAM: each function of PROGRAM has as many calls
in `epitaph count report --csv` as callgrind (names and positions not
compressed) has of the same binary. Prints what differs, and how many are equal."""

import csv
import os
import sys
from collections import Counter


def counted(path):
    calls = Counter()
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            calls[row["symbol"]] += int(row["calls"])
    return calls


def by_callgrind(path, program):
    """Calls into PROGRAM: libraries have functions of the same names."""
    calls = Counter()
    owner = callee_owner = callee = None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ob":
                owner = value
            elif key == "cob":
                callee_owner = value
            elif key == "cfn":
                callee = value.partition("'")[0]
            elif key == "calls":
                if os.path.realpath(callee_owner or owner) == program:
                    calls[callee] += int(value.split()[0])
                callee_owner = None
    return calls


def main():
    ours = counted(sys.argv[1])
    theirs = by_callgrind(sys.argv[2], os.path.realpath(sys.argv[3]))
    different = [name for name in ours if ours[name] != theirs[name]]
    for name in different:
        print("%s: %d calls counted, %d by callgrind" % (
            name, ours[name], theirs[name]))
    print("%d functions with %d calls: %d have as many as callgrind counts" % (
        len(ours), sum(ours.values()), len(ours) - len(different)))
    return 1 if different or len(ours) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())

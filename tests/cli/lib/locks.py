# SPDX-License-Identifier: BSD-2-Clause
"""locks.py LOG PAGE LINE…: each LINE is on the page. In a LINE, {role} is the tid or the address that tests/programs/lock_kinds.c
has written down in its LOG for that word."""
import re
import sys


def read_log(path):
    words = dict(line.split() for line in open(path) if len(line.split()) == 2)
    return words


def main():
    log, page = read_log(sys.argv[1]), open(sys.argv[2]).read().split("\n")
    for wanted in sys.argv[3:]:
        for role, value in log.items():
            wanted = wanted.replace("{" + role + "}", value)
        if not any(line.strip().startswith(wanted) for line in page):
            print("no line begins:", wanted)
            print("\n".join("\t" + line for line in page if re.search("thread|waits", line)))
            sys.exit(1)


main()

# SPDX-License-Identifier: BSD-2-Clause
"""breakpoints.py: inside gdb, which is attached to tests/programs/breakable.c: breakpoints at functions, at their very first byte,
on the byte of a hook that decides, and in the hook; steps through hooks, finish, a watchpoint; twice over, then it
detaches. Prints "done" and how often breakpoints were hit."""
import os

import gdb

for setting in ("pagination off", "confirm off", "width 0"):
    gdb.execute("set " + setting)


def places(name):
    """Where the function begins, and where its hook's call does: behind endbr64 and addr32."""
    start = int(gdb.parse_and_eval("(unsigned long)&" + name))
    code = bytes(gdb.selected_inferior().read_memory(start, 16))
    at = 4 if code[:4] == b"\xf3\x0f\x1e\xfa" else 0
    at += code[at] == 0x67
    # gdb shows what lies below its breakpoints.
    if code[at] not in (0xe8, 0xa9):
        print("no hook of", name, code.hex())
    return start, start + at


class Hit(gdb.Breakpoint):
    hits = 0

    def stop(self):
        Hit.hits += 1
        return Hit.hits % 15 == 0


for _ in range(2):
    points = [Hit("*__fentry__")]
    for function in ("leaf", "twice", "tail", "deep"):
        begin, hook = places(function)
        points += [Hit(function), *[Hit("*%d" % place) for place in sorted({begin, hook})]]
    for _ in range(3):
        gdb.execute("continue", to_string=True)
        gdb.execute("stepi 6", to_string=True)
        gdb.execute("finish", to_string=True)
    for point in points:
        point.delete()
    if os.environ["WATCHPOINTS"] != "0":
        watch = gdb.Breakpoint("watched", gdb.BP_WATCHPOINT)
        gdb.execute("continue", to_string=True)
        watch.delete()
gdb.execute("detach")
print("done", Hit.hits)

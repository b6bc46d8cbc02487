# SPDX-License-Identifier: BSD-2-Clause
"""stacks.py EPITAPH READER PROGRAM STOPS CRASHES: PROGRAM's stacks as others
see them, at chance moments: STOPS times it is stopped, and libunwind's (READER)
and gdb's stacks of the live threads are held against ours, of the core that gdb
makes then; CRASHES times it is killed by SIGSEGV from outside, and gdb's and
eu-stack's are held against ours of the kernel's core. Each stack is the list of
its frames' pc, signal frames included, and must be the same."""

import collections
import glob
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

SIGNAL = "<signal handler called>"
HOOK = re.compile(r"__(fentry|return)__|__cyg_profile_func_|ep_hook")
IN_HOOK, IN_HANDLER, HOOK_STOPPED = (
    "with a hook", "with a handler", "with a handler that interrupted a hook")

counts = collections.Counter()
differences = []

# Asked of gdb's own frames. Those of inlined calls, and of calls in a tail that
# the debug information lets gdb conclude, are nowhere on the stack.
ASK = """
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, pcs = gdb.newest_frame(), []
    while frame is not None:
        if frame.type() == gdb.TAILCALL_FRAME:
            print('tail')
        elif frame.type() != gdb.INLINE_FRAME:
            pcs.append('%x' % frame.pc())
        try:
            frame = frame.older()
        except gdb.error:
            break
    print('stack: %d %s' % (thread.ptid[1], ' '.join(pcs)))
"""


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)


def parse(lines):
    """tid → pcs."""
    stacks = {}
    for line in lines:
        tid, *pcs = line.split()
        stacks[int(tid)] = pcs
    return stacks


def gdbs(*words):
    done = run("gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off",
               "-iex", "set backtrace limit unlimited",
               "-iex", "set backtrace past-main on", *words)
    stacks = parse(re.findall(r"^stack: (.*)", done.stdout, re.MULTILINE))
    assert stacks, done.stdout + done.stderr
    counts["frames of tail calls that gdb adds"] += len(
        re.findall(r"^tail$", done.stdout, re.MULTILINE))
    return stacks


def eu_stacks(program, core):
    stacks, mine = {}, None
    done = run("eu-stack", "-n", "0", "--core=" + core, "-e", program)
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:1] == ["TID"]:
            mine = stacks.setdefault(int(words[1].rstrip(":")), [])
        elif words and words[0][0] == "#":
            mine.append("%x" % int(words[1], 16))
    assert stacks, done.stdout + done.stderr
    return stacks


def count_kinds(functions):
    """What is worth to be compared is there."""
    hooks = [bool(HOOK.search(function)) for function in functions]
    handlers = [function == SIGNAL for function in functions]
    counts["stacks"] += 1
    counts["frames"] += len(functions)
    for kind, is_there in (
            (IN_HOOK, any(hooks)), (IN_HANDLER, any(handlers)),
            (HOOK_STOPPED, any(one and hook for one, hook
                               in zip(handlers, hooks[1:])))):
        counts["stacks " + kind] += is_there


def ours(epitaph, core):
    done = run(epitaph, "report", "--all", "--json", core)
    assert done.returncode <= 1, done.stderr
    report = json.loads(done.stdout)
    stacks = {}
    for thread in report["threads"]:
        rows = {row["frame"]: row for row in thread["stack"]["rows"]
                if "frame" in row}
        stacks[thread["tid"]] = ["%x" % int(row["pc"], 0)
                                 for _, row in sorted(rows.items())]
        count_kinds([row["function"] for _, row in sorted(rows.items())])
    return stacks


def compare(what, mine, theirs):
    for tid in sorted(set(mine) | set(theirs)):
        same = mine.get(tid) == theirs.get(tid)
        counts["stacks equal to %s" % what] += same
        if not same:
            counts["stacks OTHER than %s" % what] += 1
            differences.append((what, tid, mine.get(tid), theirs.get(tid)))


def start(program):
    process = subprocess.Popen([program], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


def chance(least, most):
    time.sleep(random.uniform(least, most))


def stopped(pid):
    """All of its threads are."""
    for path in glob.glob("/proc/%d/task/*/stat" % pid):
        with open(path, encoding="ascii") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] not in "tT":
                return False
    return True


def vdso(pid):
    with open("/proc/%d/maps" % pid, encoding="ascii") as maps:
        for line in maps:
            if line.endswith("[vdso]\n"):
                return [int(end, 16) for end in line.split()[0].split("-")]
    return [0, 0]


def without_vdso(stacks, pid):
    """libunwind has no unwind table for it, and takes what lies on the stack,
    in programs without any hook too."""
    start, end = vdso(pid)
    kept = {tid: pcs for tid, pcs in stacks.items()
            if not any(start <= int(pc, 16) < end for pc in pcs)}
    counts["stacks with frames in the vdso, not asked of libunwind"] += (
        len(stacks) - len(kept))
    return kept


def live(epitaph, reader, process):
    chance(0, 0.05)
    process.send_signal(signal.SIGSTOP)
    for _ in range(10000):
        if stopped(process.pid):
            break
        time.sleep(0.001)
    done = run(reader, str(process.pid))
    assert done.returncode == 0, done.stderr
    gdb = gdbs("-p", str(process.pid), "-ex", "python exec(%r)" % ASK,
               "-ex", "generate-core-file live.core", "-ex", "detach")
    mine = ours(epitaph, "live.core")
    asked = without_vdso(mine, process.pid)
    theirs = parse(done.stdout.splitlines())
    compare("libunwind's (live)", asked, {
        tid: pcs for tid, pcs in theirs.items() if tid in asked or tid not in mine})
    compare("gdb's (live)", mine, gdb)
    os.remove("live.core")
    process.send_signal(signal.SIGCONT)


def crash(epitaph, program):
    process = start(program)
    chance(0, 0.05)
    process.send_signal(signal.SIGSEGV)
    try:
        assert process.wait(60) == -signal.SIGSEGV
    finally:
        process.kill()
    process.stdout.close()
    cores = glob.glob("core*")
    with open("/proc/sys/kernel/core_pattern", encoding="ascii") as pattern:
        assert len(cores) == 1, "cores: %s; kernel.core_pattern is %s" % (
            cores, pattern.read())
    core = cores[0]
    before = len(differences)
    mine = ours(epitaph, core)
    compare("gdb's (core)", mine,
            gdbs("-ex", "python exec(%r)" % ASK, program, core))
    compare("eu-stack's (core)", mine, eu_stacks(program, core))
    if len(differences) > before:
        os.rename(core, "kept.%d" % process.pid)
    else:
        os.remove(core)


def main():
    epitaph, reader, program, stops, crashes = sys.argv[1:]
    process = start(program)
    try:
        for _ in range(int(stops)):
            live(epitaph, reader, process)
    finally:
        process.kill()
        process.wait()
    for _ in range(int(crashes)):
        crash(epitaph, program)
    for kind, count in sorted(counts.items()):
        print("%10d  %s" % (count, kind))
    for what, tid, mine, theirs in differences[:10]:
        print("%s, thread %d:\n  ours   %s\n  theirs %s" % (
            what, tid, " ".join(mine or ["none"]), " ".join(theirs or ["none"])))
    for kind in IN_HOOK, IN_HANDLER, HOOK_STOPPED:
        if not counts["stacks " + kind]:
            sys.exit("no stacks " + kind)
    return 1 if differences else 0


sys.exit(main())

# SPDX-License-Identifier: BSD-2-Clause
"""crash.py: what a crash costs those who look at it, and those who wait:
the report of a big core beside gdb's stacks of all threads; how long epitaph
catch holds a process before its core goes on (the kernel's real core_pattern,
which is put back: root only); streams beside cat."""

import contextlib
import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from extract import LARGEST, make_core, peak_memory, timed
from measure import ratios, spread

FUNCTIONS = 60_000  # of a large symbol table
PATTERN = "/proc/sys/kernel/core_pattern"
LIMIT = "/proc/sys/kernel/core_pipe_limit"


def many_functions(path):
    """A source whose symbols and lines are many, and that nothing calls."""
    with open(path, "w", encoding="ascii") as out:
        for number in range(FUNCTIONS):
            out.write(f"int unit_{number:06}_of_many(int value)\n"
                      f"{{\n\treturn value * {number} + 1;\n}}\n")


@contextlib.contextmanager
def room():
    folder = tempfile.mkdtemp(prefix="epb.")  # core_pattern has 127 bytes
    try:
        if shutil.disk_usage(folder).free < LARGEST:
            sys.exit(f"crash: {folder}: less than 4 GB free")
        yield folder
    finally:
        shutil.rmtree(folder)


# ---- the report -------------------------------------------------------------

def reports(program, epitaph, rounds, say):
    """Rows: the report beside gdb's stacks of the same core."""
    with room() as folder:
        say("a core of 1.3 GB")
        core = make_core(program, folder, 1300, 0)
        gdb = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
               "-ex", "thread apply all bt", program, core]
        commands = [
            ("gdb, thread apply all bt", gdb),
            ("epitaph report", [epitaph, "report", core]),
            ("epitaph report --all", [epitaph, "report", "--all", core]),
            ("epitaph report --signature",
             [epitaph, "report", "--signature", core])]
        seconds = {name: [] for name, _ in commands}
        for number in range(rounds):
            for name, command in commands:
                seconds[name].append(
                    timed(command, f"{folder}/none", None, (0, 1)))
            say(f"round {number + 1} of {rounds}")
        base = seconds[commands[0][0]]
        return [[name, spread([1e3 * s for s in seconds[name]]),
                 spread(ratios(seconds[name], base)),
                 f"{peak_memory(command, folder, (0, 1)) / 1024:.1f}"]
                for name, command in commands]


# ---- the handler ------------------------------------------------------------

@contextlib.contextmanager
def patterns():
    """core_pattern is ours, and is put back, also when somebody ends us; its
    file is the lock, as for tests/run."""
    for number in signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, lambda by, _: sys.exit(128 + by))
    with open(PATTERN, encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = [(path, open(path, encoding="ascii").read())
                  for path in (PATTERN, LIMIT)]
        try:
            yield
        finally:
            for path, text in before:
                write(path, text)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def crashed(program, folder, megabytes):
    """From the abort to the first byte, from there to the last: ns; size."""
    times = f"{folder}/times"
    if os.path.exists(times):
        os.remove(times)
    said = subprocess.run(
        [program, str(megabytes), "0"], cwd=folder, check=False, text=True,
        stdout=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)).stdout
    aborted = int(said)
    for _ in range(3000):
        with contextlib.suppress(OSError, ValueError):
            with open(times, encoding="ascii") as file:
                first, last, size = map(int, file.read().split())
                return first - aborted, last - first, size
        time.sleep(0.01)
    sys.exit("crash: the handler has said nothing")


def copied(snapshot, folder):
    """Nanoseconds that cp takes for so much."""
    copy = f"{folder}/copy"
    return 1e9 * timed(["cp", "--reflink=never", snapshot, copy], copy, None)


def newest(store, program):
    """Others may crash meanwhile."""
    start = os.path.basename(program) + "."
    paths = [f"{store}/{name}" for name in os.listdir(store)
             if name.startswith(start) and name.endswith(".core")]
    return max(paths, key=os.path.getmtime)


def handlers(program, taker, epitaph, rounds, say):
    """Rows: a handler alone, and behind epitaph catch; 2 GiB, 25 threads."""
    with room() as folder, patterns():
        os.chmod(folder, 0o755)
        for path, name in ((taker, "taker"), (epitaph, "epitaph")):
            shutil.copy(path, f"{folder}/{name}")
        store, before = f"{folder}/store", f"|{folder}/taker {folder}/times"
        alone, behind, copies = [], [], []
        for number in range(rounds):
            write(PATTERN, before)
            alone.append(crashed(program, folder, 2048))
            subprocess.run([f"{folder}/epitaph", "catch", "--install",
                            f"--store={store}"], check=True,
                           stdout=subprocess.DEVNULL)
            behind.append(crashed(program, folder, 2048))
            copies.append(copied(newest(store, program), folder))
            say(f"round {number + 1} of {rounds}")
    held = [b[0] - a[0] for a, b in zip(alone, behind)]
    return [
        ["held before the first byte, ms", spread([h / 1e6 for h in held])],
        ["the same, times cp of the snapshot", spread(ratios(held, copies))],
        ["the stream itself, times the handler alone",
         spread(ratios([b[1] for b in behind], [a[1] for a in alone]))],
        ["held until the last byte, times the handler alone",
         spread(ratios([b[0] + b[1] for b in behind],
                       [a[0] + a[1] for a in alone]))]]


# ---- streams ----------------------------------------------------------------

def shell_time(command, output):
    if os.path.exists(output):
        os.remove(output)
    start = time.monotonic()
    status = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"],
                            stderr=subprocess.DEVNULL, check=False).returncode
    if status > 1:
        sys.exit(f"{command}: status {status}")
    return time.monotonic() - start


def streams(program, epitaph, rounds, say):
    """Rows: a core that comes as a stream, beside cat of the same bytes."""
    with room() as folder:
        core = make_core(program, folder, 1300, 0)
        subprocess.run(["zstd", "-q", "-1", core, "-o", f"{core}.zst"],
                       check=True)
        pairs = [
            ("extract from a pipe",
             f"cat {core} | {epitaph} extract -q -o {folder}/s -",
             f"cat {core} | cat >/dev/null"),
            ("extract from core.zst",
             f"{epitaph} extract -q -o {folder}/s {core}.zst",
             f"zstdcat {core}.zst >/dev/null")]
        rows = []
        for name, ours, theirs in pairs:
            seconds = [(shell_time(ours, f"{folder}/s"),
                        shell_time(theirs, f"{folder}/s"))
                       for _ in range(rounds)]
            say(name)
            rows.append([name, spread([1e3 * a for a, _ in seconds]),
                         spread([a / b for a, b in seconds])])
        return rows

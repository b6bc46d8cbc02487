# SPDX-License-Identifier: BSD-2-Clause
"""shapes.py: programs of many shapes, each beside its untraced twin, at default settings.

A run's work comes in units of some milliseconds of the twin's CPU time, and both note their
CPU time (all threads, all children, user and system) after each unit (shapes.h). Both run
at the same time, so that what else the machine does is the same for both. Of each round:

- the first second: CPU time from the start of the process until the unit by which the twin
  had had a second, times the twin's until the same unit;
- past it: what the rest took, with the process's end, times the twin's;
- the worst 100 ms: units in a row that took the traced program 100 ms or a little more,
  times what they took the twin, the most of any; the twin's cost of a unit is the median of
  all rounds. The machine has such hours too: beside it stands what the same makes of the
  twin itself, the worst of its own 100 ms.

The figures are medians of the rounds. Of what is left at the end, just before the traced
program is gone: the longest history of a thread, how long before the end it ends, how many
functions are off, or that everything is."""

import array
import hashlib
import os
import signal
import statistics
import subprocess
import tempfile
import time

import programs
from measure import Failure
from programs import BIN, clean_environment, runtime_sum, quiet
from shapes_sources import SHAPES

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = "plain", "traced"
WINDOW = 100_000_000  # ns
FIRST = 1_000_000_000
LIMITS = 1.15, 1.05, 2.0  # of the first second, past it, of the worst 100 ms


class Run:
    def __init__(self, total, times, left):
        self.total, self.times, self.left = total, times, left


def is_of(path, wanted):
    """What is there was made of the same."""
    try:
        with open(path, encoding="ascii") as text:
            return text.read() == wanted
    except FileNotFoundError:
        return False


def build(shape, folder):
    """Both twins, unless they are there: compiled again where source, flags or wrapper are
    others, and linked where the runtime is."""
    files = shape.files()
    with open(f"{HERE}/shapes.h", encoding="ascii") as header:
        main = header.read()
    for kind in KINDS:
        compiler, env, runtime = [shape.compiler], clean_environment(None), ""
        if kind == "traced":
            cpp = shape.compiler.endswith("++")
            env["EPITAPH_CXX" if cpp else "EPITAPH_CC"] = shape.compiler
            compiler = [f"{BIN}/epitaph-c++" if cpp else f"{BIN}/epitaph-cc"]
            compiler += [f"-epitaph-method={shape.method}"] if shape.method else []
            runtime = runtime_sum()
        compiler += [shape.level, "-g0", f"-I{HERE}", *shape.flags]
        place = f"{folder}/{shape.name}/{kind}"
        told = repr((sorted(files.items()), main, compiler, shape.library))
        stamp = hashlib.sha256(told.encode()).hexdigest()
        os.makedirs(place, exist_ok=True)
        if not is_of(f"{place}/compiled", stamp):
            compile_all(shape, files, place, compiler, env)
            leave(f"{place}/compiled", stamp)
        if not is_of(f"{place}/linked", stamp + runtime):
            link(shape, files, place, compiler, env)
            leave(f"{place}/linked", stamp + runtime)


def leave(path, text):
    with open(path, "w", encoding="ascii") as out:
        out.write(text)


def library_of(place, name):
    return f"{place}/lib{name.split('.')[0]}.so"


def compile_all(shape, files, place, compiler, env):
    for name, text in files.items():
        leave(f"{place}/{name}", text)
        shared = ["-fPIC"] if name in shape.library else []
        quiet(f"{place}/log", *compiler, *shared, "-c", f"{place}/{name}", "-o", f"{place}/{name}.o",
              env=env)


def link(shape, files, place, compiler, env):
    for name in shape.library:
        quiet(f"{place}/log", *compiler, "-shared", f"{place}/{name}.o", "-o",
              library_of(place, name), env=env)
    objects = [library_of(place, name) if name in shape.library else f"{place}/{name}.o"
               for name in sorted(files, key=lambda name: name in shape.library)]
    quiet(f"{place}/log", *compiler, *objects, "-pthread", "-lm", f"-Wl,-rpath,{place}", "-o",
          f"{place}/program", env=env)


def work_of(shape, folder, seconds):
    """REPEAT and UNITS that take the twin so many seconds; found once and kept."""
    path = f"{folder}/{shape.name}/work.{seconds:g}"
    stamp = f"{folder}/{shape.name}/plain/compiled"
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(stamp):
        out = subprocess.run([f"{folder}/{shape.name}/plain/program", "calibrate", str(seconds)],
                             check=True, stdout=subprocess.PIPE, text=True,
                             env=clean_environment(None)).stdout
        with open(path, "w", encoding="ascii") as text:
            text.write(out)
    with open(path, encoding="ascii") as text:
        return text.read().split()


def left_at_end(pid):
    """What a process that is about to end would leave in a core."""
    out = subprocess.run([programs.EPITAPH, "info", "-j", str(pid)], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False).stdout
    try:
        return {**programs.json.loads(out), "now": time.time_ns()}
    except ValueError:
        return None


class Process:
    """One of the twins, from its start to its end."""

    def __init__(self, shape, folder, kind, work, room):
        self.kind, self.file = kind, f"{room}/times-{kind}"
        with open(os.devnull, "r+b") as null:
            self.child = subprocess.Popen(
                [f"{folder}/{shape.name}/{kind}/program", *work, self.file], cwd=room, stdin=null,
                stdout=null, env=clean_environment(None))

    def finish(self, look):
        left = None
        _, status, usage = os.wait4(self.child.pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            left = left_at_end(self.child.pid) if look else None
            self.child.send_signal(signal.SIGCONT)
            _, status, usage = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        if self.child.returncode:
            raise Failure(f"{self.kind}: exit status {self.child.returncode}")
        times = array.array("Q")
        with open(self.file, "rb") as data:
            times.frombytes(data.read())
        return Run(round((usage.ru_utime + usage.ru_stime) * 1e9), times, left)


def run_both(shape, folder, work, number):
    """At the same time: what else the machine does is the same for both."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as room:
        kinds = KINDS if number % 2 else KINDS[::-1]
        both = {kind: Process(shape, folder, kind, work, room) for kind in kinds}
        return [both[kind].finish(kind == "traced" and not number) for kind in KINDS]


def costs(times):
    return [after - before for before, after in zip([0, *times], times)]


def worst(units, base):
    """The most of any 100 ms, times what their units should have taken."""
    most, start, have, should = 0.0, 0, 0, 0.0
    for i, cost in enumerate(units):
        have += cost
        should += base[i]
        while have - units[start] >= WINDOW:
            have -= units[start]
            should -= base[start]
            start += 1
        if have >= WINDOW:
            most = max(most, have / should)
    return most or have / should


class Figures:
    def __init__(self, plain, traced, lives):
        split = next((i for i, t in enumerate(plain[0].times) if t >= FIRST), None)
        pairs = list(zip(plain, traced))
        if lives > 1 or split is None or plain[0].times[-1] < 1.2 * FIRST:
            self.first, self.past = [b.total / a.total for a, b in pairs], []
        else:
            self.first = [b.times[split] / a.times[split] for a, b in pairs]
            self.past = [(b.total - b.times[split]) / (a.total - a.times[split])
                         for a, b in pairs]
        base = [statistics.median(values) for values in zip(*(costs(a.times) for a in plain))]
        self.worst = self.noise = []
        if lives == 1:  # the units of a shorter life may take no time that is measured
            self.worst = [worst(costs(b.times), base) for b in traced]
            self.noise = [worst(costs(a.times), base) for a in plain]
        self.left = next((b.left for b in traced if b.left), None)

    def fails(self):
        """The limits that it is above, in words."""
        out = []
        for what, values, limit in [("first", self.first, LIMITS[0]), ("past", self.past, LIMITS[1]),
                                    ("100 ms", self.worst, LIMITS[2])]:
            if values and statistics.median(values) > limit:
                out.append(what)
        if self.left and self.history()[0] == "none":
            out.append("history")
        return out

    def history(self):
        """Of the core's longest thread, when it ends, what is off."""
        left = self.left
        threads = [t for t in left.get("threads", []) if t["history_ns"]]
        known = left.get("switching") or {}
        off = "all" if known.get("all_off") else f"{known.get('functions_off', 0):,}"
        if not threads:
            return "none", "–", off
        span = max(t["history_ns"] for t in threads) / 1e6
        ago = (left["now"] - left["last_realtime_ns"]) / 1e6
        return f"{span:,.0f}", f"{max(ago, 0):,.0f}", off

    def cells(self):
        def middle(values):
            return f"{statistics.median(values):.2f}" if values else "–"
        left = self.history() if self.left else ("–", "–", "–")
        return [middle(self.first), middle(self.past), middle(self.worst), middle(self.noise),
                *left, ", ".join(self.fails()) or "–"]


def measure(shape, folder, rounds, seconds):
    build(shape, folder)
    seconds = shape.seconds or seconds
    rounds = shape.rounds or rounds
    work = work_of(shape, folder, seconds)
    lives = max(1, round(1 / seconds)) if seconds < 0.5 else 1
    plain, traced = [], []
    for number in range(rounds):
        runs = list(zip(*(run_both(shape, folder, work, number + life) for life in range(lives))))
        for of_kind, list_ in zip(runs, (plain, traced)):
            of_kind[0].total = sum(one.total for one in of_kind)
            list_.append(of_kind[0])
    return Figures(plain, traced, lives)


def shape_table(options, folder, tell, table, say):
    """A row a shape; one that cannot be built or run is a row. Returns how many could not."""
    wanted = options.programs.split(",") if options.programs else None
    rows, failures, bad = [], 0, 0
    for shape in SHAPES:
        if wanted and shape.name not in wanted:
            continue
        try:
            figures = measure(shape, folder, options.shape_rounds, options.shape_seconds)
            rows.append([shape.name, shape.told(), *figures.cells()])
            bad += bool(figures.fails())
        except (Failure, ArithmeticError, OSError, ValueError, subprocess.SubprocessError) as why:
            failures += 1
            rows.append([shape.name, shape.told(), *["–"] * 7, f"failed: {' '.join(str(why).split())}"])
        say(" | ".join(rows[-1]))
    tell(f"### Programs of {len(rows)} shapes, {options.shape_rounds} rounds of {options.shape_seconds:g} s")
    tell()
    table(["shape", "built by", "first second", "past it", "worst 100 ms", "the twin's own",
           "history, ms", "ends before the end, ms", "functions off", "above its limit"], rows)
    tell(f"{bad} of {len(rows)} are above a limit: {LIMITS[0]} in the first second, {LIMITS[1]} past "
         f"it, {LIMITS[2]:g} in the worst 100 ms.")
    tell()
    return failures

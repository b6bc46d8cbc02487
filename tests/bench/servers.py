# SPDX-License-Identifier: BSD-2-Clause
"""servers.py: what tracing costs programs that nobody here wrote, beside their untraced
twins and epitaph's peers."""

import glob
import os
import subprocess
import tempfile

from measure import Failure, of, ratios, spread
from programs import ALL, Program

SETTINGS = [("epitaph", {}), ("EPITAPH_BUDGET=1%", {"EPITAPH_BUDGET": "1%"}),
            ("EPITAPH_BUDGET=none", {"EPITAPH_BUDGET": "none"}),
            ("EPITAPH=off", {"EPITAPH": "off"})]
PEER_PART = 0.25  # of the work: some are slow, or write all of it down


class Row:
    """One way to run a program, by what it cost in each round."""

    def __init__(self, name, kind, seconds, env=None, prefix=(), base=None):
        self.name, self.kind, self.seconds = name, kind, seconds
        self.env, self.prefix, self.base = env, prefix, base
        self.cpu, self.own = [], []

    def run(self, program):
        done = program.run(self.kind, program.units(self.seconds), self.env, self.prefix)
        self.cpu.append(done.cpu)
        self.own.append(done.own)

    def cells(self):
        """Times the twin's cost; what epitaph thinks, as such a ratio."""
        own = [1 + value for value in self.own if value is not None]
        return [self.name, spread(ratios(self.cpu, self.base.cpu)), spread(own) if own else "–"]


def own_rows(seconds, first):
    plain = Row("uninstrumented", "plain", seconds)
    rows = [plain]
    rows += [Row(name, "epitaph", seconds, env, (), plain) for name, env in SETTINGS]
    if first:
        short = Row("uninstrumented, the first second", "plain", 1)
        rows += [short]
        rows += [Row(f"{name}, the first second", "epitaph", 1, env, (), short)
                 for name, env in SETTINGS[:1]]
    return rows


def peer_rows(seconds, room):
    few = seconds * PEER_PART
    gcc, clang = Row("", "plain", few), Row("", "clang", few)

    def xray(mode):
        return {"XRAY_OPTIONS": f"patch_premain=true xray_mode={mode} verbosity=0 "
                f"xray_logfile_base={room}/xray."}
    return [gcc, clang,
            Row("gprof", "pg", few, {"GMON_OUT_PREFIX": f"{room}/gmon"}, (), gcc),
            Row("uftrace record", "pg", few, None,
                ["uftrace", "record", "--no-libcall", "-d", f"{room}/uftrace"], gcc),
            Row("XRay, unpatched", "xray", few, {"XRAY_OPTIONS": "patch_premain=false"}, (), clang),
            Row("XRay, basic mode", "xray", few, xray("xray-basic"), (), clang),
            Row("XRay, flight recorder", "xray", few, xray("xray-fdr"), (), clang)]


def measure(program, rows, rounds, say):
    for kind in ("plain", *{row.kind for row in rows if row.kind != "plain"}):
        program.build(kind)
    program.units(1)
    for number in range(rounds):
        for row in rows:
            row.run(program)
        say(f"{program.name}: round {number + 1} of {rounds}")


def server_table(options, builds, tell, table, say):
    """Each program by itself: one that fails is a row. Returns how many did."""
    names = options.programs.split(",") if options.programs else list(ALL)
    failures = 0
    for name in names:
        rows, failed = [], []
        try:
            program: Program = ALL[name](builds)
            with tempfile.TemporaryDirectory(dir="/dev/shm") as room:
                rows = own_rows(options.seconds, not options.quick)
                rows += peer_rows(options.seconds, room) if options.peers else []
                measure(program, rows, options.rounds, say)
        except (Failure, OSError, subprocess.SubprocessError) as why:
            failures += 1
            failed = [[f"{name}: failed", of(why), "–"]]
            say(f"{name}: {of(why)}")
        finally:  # what was measured before is kept, also where a signal ends it
            tell(f"### {name}, {options.rounds} rounds of {options.seconds:g} s")
            tell()
            table(["", "times the uninstrumented", "as epitaph says"],
                  [row.cells() for row in rows if row.base and ratios(row.cpu, row.base.cpu)] + failed)
    return failures

# SPDX-License-Identifier: BSD-2-Clause
"""measure.py: runs variants of a program in turn, round by round, and compares
them round by round, so that a machine whose speed drifts does not matter."""

import os
import statistics
import subprocess
import time


class Failure(Exception):
    """A program that does not build or run: a row of its table. The other rows and tables stay."""


def of(why):
    """Any failure in a line that fits into a table."""
    return " ".join(str(why).split()).replace("|", "/") or type(why).__name__


class Variant:
    """One way to build and run the measured program."""

    def __init__(self, name, command, env=None, scale=1.0, prefix=()):
        self.name = name
        self.command = [*prefix, *command]
        self.env = {**os.environ, **(env or {})}
        self.scale = scale  # work done, as a part of what the others do
        self.cpu = []  # seconds of user and system time, a round each
        self.wall = []

    def run(self, cwd):
        """Runs once; the operating system's own accounting of the child."""
        with open(os.devnull, "r+b") as null:
            start = time.monotonic()
            child = subprocess.Popen(
                self.command, env=self.env, cwd=cwd, stdin=null, stdout=null,
                stderr=subprocess.PIPE)
            complaint = child.stderr.read()
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.monotonic() - start
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise Failure(f"{self.name}: exit status {child.returncode}: "
                          f"{complaint.decode(errors='replace')}")
        self.cpu.append((usage.ru_utime + usage.ru_stime) / self.scale)
        self.wall.append(wall / self.scale)


def interleave(variants, rounds, cwd, say):
    for number in range(rounds):
        for variant in variants:
            variant.run(cwd)
        say(f"round {number + 1} of {rounds}")


def spread(values):
    """median [first quartile … third quartile]"""
    ordered = sorted(values)
    if len(ordered) < 4:
        return f"{statistics.median(ordered):.2f}"
    low, _, high = statistics.quantiles(ordered, n=4)
    return f"{statistics.median(ordered):.2f} [{low:.2f} … {high:.2f}]"


def costs(variant, plain, unit):
    """What each round cost above the uninstrumented run, in ns per `unit`s."""
    return [(a - b) / unit * 1e9 for a, b in zip(variant.cpu, plain.cpu)]


def ratios(above, below):
    return [a / b for a, b in zip(above, below) if b > 0]

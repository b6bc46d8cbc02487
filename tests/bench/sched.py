# SPDX-License-Identifier: BSD-2-Clause
"""sched.py: what recording scheduling events costs a ping-pong of two threads
(waits.c, over pipes), and calls that don't switch: nobody records; an ftrace
instance like the runtime's that nobody drains; the runtime's, drained; perf.
Interleaved; all on one CPU and at a real-time priority, so that other programs
don't count. Root only: tracefs."""

import os
import subprocess
import time

from measure import ratios, spread

TRACING = "/sys/kernel/tracing"
EVENTS = ["sched/sched_switch", "sched/sched_waking", "task/task_newtask",
          "task/task_rename"]
WAYS = [("nobody records", "off"), ("ftrace, nobody drains", None),
        ("ftrace", "ftrace"), ("perf", "perf")]
ROUNDS = 20_000
CALLS = 2_000_000


def possible():
    if not os.path.isdir(f"{TRACING}/instances"):
        subprocess.run(["mount", "-t", "tracefs", "nodev", TRACING],
                       check=False, stderr=subprocess.DEVNULL)
    return os.access(f"{TRACING}/instances", os.W_OK)


class Undrained:
    """An instance for this process's children, of the runtime's size."""

    def __enter__(self):
        self.folder = f"{TRACING}/instances/bench.{os.getpid()}"
        os.mkdir(self.folder)
        self.put("buffer_size_kb", "2040")
        self.put("trace_clock", "x86-tsc")
        self.put("options/event-fork", "1")
        self.put("set_event_pid", str(os.getpid()))
        for event in EVENTS:
            self.put(f"events/{event}/enable", "1")

    def put(self, path, text):
        with open(f"{self.folder}/{path}", "w", encoding="utf-8") as file:
            file.write(text)

    def __exit__(self, *_):
        self.put("events/enable", "0")
        for _ in range(50):
            try:
                return os.rmdir(self.folder)
            except OSError:
                time.sleep(0.05)


def run(program, sched, word):
    """Nanoseconds a round, by the program's own clock."""
    out = subprocess.run(
        ["taskset", "-c", str(max(os.sched_getaffinity(0))), "chrt", "-f", "1",
         program, word], check=True, text=True, stdout=subprocess.PIPE,
        env={**os.environ, "EPITAPH_SCHED": sched or "off"}).stdout.split()
    return int(out[3]) / int(out[1])


def scheduling(program, rounds, say):
    """Rows of the table, one a way."""
    pings = {name: [] for name, _ in WAYS}
    turns = {name: [] for name, _ in WAYS}
    for number in range(rounds):
        say(f"scheduling events, round {number + 1}")
        for name, way in WAYS:
            if way is None:
                with Undrained():
                    pings[name].append(run(program, way, f"ping{ROUNDS}"))
                    turns[name].append(run(program, way, f"turn{CALLS}"))
            else:
                pings[name].append(run(program, way, f"ping{ROUNDS}"))
                turns[name].append(run(program, way, f"turn{CALLS}"))
    none = pings["nobody records"]
    undrained = pings["ftrace, nobody drains"]
    for name, _ in WAYS:
        # Both threads share a CPU: a round is two switches.
        each = [(a - b) / 2 for a, b in zip(pings[name], none)]
        yield [name, spread([p / 1000 for p in pings[name]]), spread(each),
               spread(ratios(pings[name], undrained)),
               spread(ratios(turns[name], turns["nobody records"]))]

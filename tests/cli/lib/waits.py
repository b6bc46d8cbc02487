# SPDX-License-Identifier: BSD-2-Clause
# waits.py SOURCE ROUNDS NS SWITCHES: what epitaph tells of tests/programs/waits.c (info.json, replay.tsv, stats.json,
# waits.json) against what the program does, and what the kernel counted while it did.
import csv
import json
import sys

source, rounds, spent, switches = sys.argv[1], *map(int, sys.argv[2:])
info = json.load(open("info.json"))
calls, unsure = {}, {}
for row in csv.DictReader(open("replay.tsv"), delimiter="\t"):
    if row["# event"] == "E" and row["on_cpu_ns"] != "-":
        calls.setdefault(row["function"], []).append((int(row["on_cpu_ns"]), int(row["waiting_ns"])))
    elif row["# event"] == "E":
        unsure[row["function"]] = unsure.get(row["function"], 0) + 1
stats = {s["function"]: s for s in json.load(open("stats.json"))["functions"]}
waits = json.load(open("waits.json"))["waits"]
wait = {w["function"]: w for w in waits}


def check(holds, words):
    if not holds:
        sys.exit(f"{source}: {words}\n{calls}\n{waits}")


scheduling = info["scheduling"]
check(scheduling["source"] == source and scheduling["state"] == "on", scheduling)
check(scheduling["losses"] == 0 and scheduling["bad"] == 0, scheduling)
check(scheduling["threads"] == 3, f"threads: {scheduling}")
check(not [t for t in info["threads"] if "epitaph" in t["name"]], "the drain is among the threads")


def one(name):  # of one call: on a CPU, waiting, unknown
    row = stats[name]
    check(row["calls"] == 1, row)
    check(abs(row["on_cpu_ns"] + row["waiting_ns"] + row["unknown_ns"] - row["total_ns"]) <= 100, row)
    check((row["unknown_ns"] != 0) == (unsure.get(name, 0) == 1), f"{row} {unsure}")
    return row["on_cpu_ns"], row["waiting_ns"], row["unknown_ns"]


# Nothing ends a wait early; how late a busy machine goes on is not ours to say. A kernel may not tell that a thread is on a CPU
# again (docs/waiting.md): it is known that it was woken, and since when it ran is not.
nap, lock, hold, spin = map(one, ("waits_nap", "waits_lock", "waits_hold", "waits_spin"))
check(nap[1] >= 39_900_000 and nap[0] < 5_000_000, f"nap {nap}")
check(lock[1] >= 49_000_000 and lock[0] < 5_000_000, f"lock {lock}")
check(hold[1] >= 49_900_000, f"hold {hold}")
check(sum(spin) >= 30_000_000 and spin[0] + spin[2] > 4_900_000, f"spin {spin}")

# Each voluntary switch of the kernel's count is a wait in a call of ping or what it called.
pings = wait["waits_ping"]["waits"] + wait.get("ping", {"waits": 0})["waits"]
check(abs(pings - switches) <= 2, f"{pings} waits in pings, the kernel counted {switches}")
check(len(calls["waits_ping"]) + unsure.get("waits_ping", 0) == rounds, f"{len(calls['waits_ping'])} pings, of {rounds}")
total = sum(on + off for on, off in calls["waits_ping"])
check(total <= spent * 1.01, f"pings took {total} ns, the program says {spent}")

# What calls say adds up to what the table says.
for name in {"waits_nap", "waits_lock", "waits_ping"} - unsure.keys():
    row, sums = stats[name], [sum(c[i] for c in calls[name]) for i in (0, 1)]
    for said, summed in zip((row["on_cpu_ns"], row["waiting_ns"]), sums):
        check(abs(said - summed) <= 100 + 8 * len(calls[name]), f"{name}: {row}, calls {sums}")
check(wait["waits_nap"]["longest_ns"] >= 39_900_000 and wait["waits_nap"]["caller"] == "main", wait["waits_nap"])
if source == "ftrace":
    by = {name: w["ended_by"][0] for name, w in wait.items() if w["ended_by"]}
    check(by["waits_lock"]["thread"] == "holder", by["waits_lock"])
    check(by["waits_ping"]["thread"] == "answerer", by["waits_ping"])
    check(by["waits_nap"]["kind"] == "irq", by["waits_nap"])

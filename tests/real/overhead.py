#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What tests/real/overhead measures and compares.

seconds PROGRAM SCRIPT SCALE     CPU seconds of a run, the least of many
path TSV FRAMES LIST             is the path to a crash in its trace?
measure SCRIPT SCALE TABLE GOAL  builds plain, traced, lua.GOAL, with list.GOAL:
                                 is what they cost as predicted?

On a shared machine another program makes a run slower, none makes it faster:
the least CPU time of many interleaved runs is compared, not the mean."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "bench"))
from measure import Variant  # noqa: E402

ROUNDS = 15
MOST = 1.33  # measured overhead, times the predicted one


def variant(folder, script, scale):
    env = {"EPITAPH_TIMESTAMP_EVERY": "auto"}
    return Variant(folder, [f"./{folder}/lua", script, scale], env)


def seconds(program, script, scale):
    run = Variant(program, [f"./{program}", script, scale])
    for _ in range(ROUNDS):
        run.run(".")
    print(f"{min(run.cpu):.4f}")


def names_of(path):
    with open(path, encoding="utf-8") as lines:
        return {line.split("#")[0].strip() for line in lines} - {""}


def path(tsv, frames_path, list_path):
    """The frames from luaB_pcall on, less the excluded, are calls that did not
    return, in this order, the innermost last."""
    with open(frames_path, encoding="utf-8") as lines:
        frames = [line.split(".")[0].strip() for line in lines]
    excluded = names_of(list_path)
    inner = frames[:frames.index("luaB_pcall") + 1][::-1]
    wanted = [frame for frame in inner if frame not in excluded
              and not frame.startswith("__") and frame not in ("system", "do_system", "wait4", "waitpid")]
    opened = []
    with open(tsv, encoding="utf-8") as lines:
        columns = next(lines).lstrip("# ").rstrip("\n").split("\t")
        for line in lines:
            row = dict(zip(columns, line.rstrip("\n").split("\t")))
            if row.get("event") == "B":
                opened = opened[:int(row["depth"])]
                opened += [None] * (int(row["depth"]) - len(opened))
                opened.append(row["function"])
            elif row.get("event") == "E":
                opened = opened[:int(row["depth"])]
    calls = [call for call in opened if call]
    position = 0
    for frame in wanted:
        while position < len(calls) and calls[position].split(".")[0] != frame:
            position += 1
        if position == len(calls):
            print(f"{frame} is not among {calls}; gdb: {frames}")
            return 1
        position += 1
    if len(wanted) < 4 or "luaV_execute" not in wanted:
        print(f"too little of a path: {wanted}")
        return 1
    print(f"real: overhead: the path to the crash is there: {' '.join(wanted)}")
    return 0


def predicted(goal):
    with open(f"list.{goal}", encoding="utf-8") as lines:
        text = lines.read()
    functions = re.search(r": (\d+) of (\d+) functions", text)
    after = re.search(r"^# after: ([\d,]+) calls in .*overhead ([\d.]+) %", text, re.M)
    before = re.search(r"^# before: ([\d,]+) calls in .*overhead ([\d.]+) %", text, re.M)
    return functions.groups(), before.groups(), after.groups()


def measure(script, scale, table, goals):
    plain = variant("plain", script, scale)
    others = [variant("traced", script, scale)]
    others += [variant(f"lua.{goal}", script, scale) for goal in goals]
    for number in range(ROUNDS):
        for one in [plain, *others]:
            one.run(".")
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr)
    least = min(plain.cpu)
    rows, before, bad = [], None, []
    for one in others:
        cost = min(one.cpu) / least - 1
        if one.name == "traced":
            functions, (calls, foreseen), _ = predicted(goals[0])
            excluded = "0"
        else:
            functions, _, (calls, foreseen) = predicted(one.name.split(".")[1])
            excluded = functions[0]
        ratio = cost * 100 / float(foreseen)
        rows.append(f"| {one.name} | {excluded} of {functions[1]} | {calls} | {foreseen} % | {cost * 100:.1f} % | {ratio:.2f} |")
        if ratio > MOST:
            bad.append(f"{one.name} costs {ratio:.2f} times what was predicted")
        if before is not None and cost >= before:
            bad.append(f"{one.name} costs no less than the one before it")
        before = cost
    with open(table, "w", encoding="utf-8") as out:
        out.write("| build | functions excluded | calls traced | predicted | measured | ratio |\n|---|---|---|---|---|---|\n")
        out.write("\n".join(rows) + "\n")
    print(open(table, encoding="utf-8").read(), end="")
    for complaint in bad:
        print(complaint)
    return 1 if bad else 0


if __name__ == "__main__":
    command, words = sys.argv[1], sys.argv[2:]
    if command == "seconds":
        seconds(*words)
    elif command == "path":
        sys.exit(path(*words))
    else:
        sys.exit(measure(words[0], words[1], words[2], words[3:]))

# SPDX-License-Identifier: BSD-2-Clause
"""views.py: what each output makes of the same four million calls: how large
it is, how long it takes, what memory. The input is a snapshot of Lua."""

import os
import shutil

from decode import events_of, make_snapshot
from extract import peak_memory
from measure import Variant, interleave, spread

RING = 64  # MiB: four million calls, every record timed
FORMATS = ["html", "perfetto", "chrome", "viztracer", "jsonl", "speedscope",
           "tables", "tables --zstd", "collapsed", "flamegraph", "svg", "dot",
           "funtrace"]


def size_of(path):
    if os.path.isdir(path):
        return sum(os.path.getsize(os.path.join(path, name))
                   for name in os.listdir(path))
    return os.path.getsize(path)


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def commands(epitaph, snapshot, target):
    """Name, and the command that writes `target`."""
    def shell(*words):
        return ["sh", "-c", 'rm -rf "$0" && "$@"', target, *words]

    def into(words):
        return ["sh", "-c", '"$@" >"$0" || [ $? -eq 1 ]', target, epitaph,
                *words, snapshot]

    yield "report", into(["report"])
    yield "stats", into(["stats"])
    yield "replay", into(["replay"])
    for name in FORMATS:
        form, *more = name.split()
        yield f"export -f {name}", shell(epitaph, "export", "-f", form, *more,
                                         "-o", target, snapshot)


def views(epitaph, lua, folder, rounds, say):
    """Rows of a table, and words about the input."""
    script = os.path.join(folder, "views.lua")
    target = os.path.join(folder, "views.out")
    snapshot = make_snapshot(lua, script, os.path.join(folder, "views.core"),
                             RING)
    _, calls = events_of(epitaph, snapshot)
    every = list(commands(epitaph, snapshot, target))
    variants = [Variant(name, command) for name, command in every]
    rows = []
    for variant in variants:
        remove(target)
        interleave([variant], 1, folder, lambda _: None)
        rows.append([variant.name, size_of(target)])
        variant.cpu.clear()
        variant.wall.clear()
    interleave(variants, rounds, folder, say)
    for variant, row in zip(variants, rows):
        size = row.pop()
        row += [f"{size / 1e6:.2f}", f"{size / calls:.1f}",
                spread(variant.wall), spread(variant.cpu),
                f"{peak_memory(variant.command, folder) / 1024:.0f}"]
    what = f"{calls / 1e6:.2f} million calls, {size_of(snapshot) / 1e6:.0f} MB"
    for path in (snapshot, script, target):
        remove(path)
    return rows, what

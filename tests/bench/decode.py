# SPDX-License-Identifier: BSD-2-Clause
"""decode.py: what decoding costs: a snapshot of Lua's last millions of events,
read by the commands. Times and memory of whole commands, start and names
included; instructions per event without these, as the difference of two
histories."""

import json
import os
import re
import subprocess
import sys

from extract import peak_memory
from measure import Variant, interleave, ratios, spread

COMMANDS = [
    ("stats", ["stats"]), ("replay, tab-separated", ["replay", "--format=tsv"]),
    ("replay, as a tree", ["replay"]),
    ("export, viztracer", ["export", "-f", "viztracer"]),
    ("export, jsonl", ["export", "-f", "jsonl"]),
    ("export, collapsed", ["export", "-f", "collapsed"])]


def make_snapshot(lua, script, path, ring):
    """Lua's history in a ring of so many MiB, every record timed, full."""
    with open(script, "w", encoding="ascii") as out:
        out.write('arg = {[1] = "2"}\n'
                  f'dofile("{os.path.dirname(__file__)}/work.lua")\n'
                  'os.execute("kill -TRAP $PPID; sleep 0.3")\n')
    if os.path.exists(path):
        os.remove(path)
    subprocess.run([lua, script], check=True, stdout=subprocess.DEVNULL, env={
        **os.environ, "EPITAPH_TIMESTAMP_EVERY": "1", "EPITAPH_OUTPUT": path,
        "EPITAPH_RING": f"{ring}M", "EPITAPH_MEMORY": f"{ring + 64}M"})
    return path


def events_of(epitaph, snapshot):
    """Calls and returns, by the tool's own count, and calls."""
    said = subprocess.run([epitaph, "stats", "--json", snapshot], text=True,
                          check=True, stdout=subprocess.PIPE).stdout
    functions = json.loads(said)["functions"]
    calls = sum(f["calls"] for f in functions)
    lone = sum(f["open"] + f["before"] for f in functions)
    return 2 * calls - lone, calls


def instructions(command):
    said = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         *command], check=True, stdout=subprocess.DEVNULL, text=True,
        stderr=subprocess.PIPE).stderr
    found = re.search(r"Collected : (\d+)", said)
    return int(found.group(1)) if found else sys.exit(said)


def decoding(epitaph, lua, folder, rounds, say):
    """Rows of a table, and words about the input."""
    script = os.path.join(folder, "decode.lua")
    large, small, tiny = (
        make_snapshot(lua, script, os.path.join(folder, f"decode.{ring}"), ring)
        for ring in (32, 4, 2))
    events, calls = events_of(epitaph, large)
    size = os.path.getsize(large)
    cat = Variant("cat", ["cat", large])
    variants = [Variant(name, [epitaph, *words, large])
                for name, words in COMMANDS]
    interleave([cat, *variants], rounds, folder, say)
    step = events_of(epitaph, small)[0] - events_of(epitaph, tiny)[0]
    rows = []
    for variant, (name, words) in zip(variants, COMMANDS):
        say(f"instructions of {name}")
        more = (instructions([epitaph, *words, small])
                - instructions([epitaph, *words, tiny]))
        quiet = ["sh", "-c", '"$@" >/dev/null', "sh", epitaph, *words, large]
        rows.append([
            name, f"{more / step:.0f}",
            spread([events / wall / 1e6 for wall in variant.wall]),
            spread([calls / wall / 1e6 for wall in variant.wall]),
            spread(ratios(variant.wall, cat.wall)),
            f"{peak_memory(quiet, folder) * 1024 / size:.2f}"])
    for path in (large, small, tiny, script):
        os.remove(path)
    return rows, f"{events / 1e6:.1f} million events, {size / 1e6:.0f} MB"

# SPDX-License-Identifier: BSD-2-Clause
"""names.py TOOL FILE DEBUG_FILE PLACES [DEBUG_PATH...]: what we say of every
function of a library, and of PLACES addresses within each, beside what others
say: names beside c++filt's, lines beside eu-addr2line's, inlined calls beside
llvm-symbolizer's. Prints counts; each difference has a kind, and status 1 tells
of differences that have none."""

import collections
import json
import os
import random
import re
import subprocess
import sys

counts = collections.Counter()
unexplained = []


def run(words, lines=None):
    text = None if lines is None else "".join(line + "\n" for line in lines)
    done = subprocess.run(words, input=text, capture_output=True, text=True)
    return done.stdout.splitlines()


def functions(files):
    """address → size and symbols."""
    found = collections.defaultdict(lambda: [0, set()])
    for line in run(["readelf", "-sW", "--dyn-syms", *files]):
        words = line.split()
        if len(words) < 8 or words[3] not in ("FUNC", "IFUNC"):
            continue
        address, symbol = int(words[1], 16), words[7].split("@")[0]
        if words[6] == "UND" or address == 0:
            continue
        size = int(words[2], 0)
        found[address][0] = max(found[address][0], size)
        found[address][1].add(symbol)
    return found


def places(found, each):
    """The entries, and places within."""
    chance = random.Random(1)
    for address, (size, _) in sorted(found.items()):
        yield address, True
        for _ in range(each if size > 1 else 0):
            yield address + chance.randrange(1, size), False


def normal(path, line):
    known = path and not path.startswith("??") and path != "<invalid>"
    return (os.path.normpath(path) if known else "??") + ":%s" % line


def others_lines(debug, addresses):
    """eu-addr2line's: "/path/file.c:12:3"."""
    for line in run(["eu-addr2line", "-e", debug], addresses):
        words = line.split(" ")[0].split(":")
        yield normal(words[0], words[1])


def others_frames(debug, addresses):
    """llvm-symbolizer's, innermost first."""
    for line in run(["llvm-symbolizer", "--output-style=JSON",
                     "--no-demangle", "--obj=" + debug], addresses):
        yield json.loads(line)["Symbol"]


def unclassified(kind, *what):
    counts["%s: UNEXPLAINED" % kind] += 1
    unexplained.append((kind,) + what)


def part_of(symbol):
    """f of f.cold, f.cold.1, f.__part.0."""
    return re.sub(r"\.(cold|__part)(\.\d+)?$", "", symbol)


def wholes(found, symbols):
    """The symbols of the functions that these are parts of."""
    parts = {part_of(symbol) for symbol in symbols}
    for _, others in found.values():
        if parts & others:
            yield from others


def check_name(address, name, found, plain):
    symbols = found[address][1]
    if name in {plain[symbol] for symbol in symbols}:
        counts["name: c++filt's"] += 1
    elif name in {plain[symbol] for symbol in wholes(found, symbols)}:
        counts["name: of a cold part, its function's"] += 1
    else:
        unclassified("name", hex(address), name, sorted(symbols))


def check_line(address, line, other, frames):
    llvm = normal(frames[0]["FileName"], frames[0]["Line"])
    if line == other:
        counts["line: eu-addr2line's"] += 1
    elif line == llvm and other == "??:0":
        counts["line: llvm-symbolizer's, eu-addr2line finds no unit"] += 1
    elif line == llvm:
        counts["line: llvm-symbolizer's, eu-addr2line tells another's"] += 1
    else:
        unclassified("line", hex(address), line, other, llvm)


def check_begin(address, begin, line, other, frames):
    """The first row of the function; others show the last one there."""
    start = frames[-1].get("StartLine") or 0
    if begin == other:
        counts["function's line: eu-addr2line's"] += 1
    elif begin == line and other == "??:0":
        counts["function's line: llvm-symbolizer's, eu-addr2line finds no "
               "unit"] += 1
    elif start and 0 <= int(begin.rsplit(":", 1)[1]) - start <= 60:
        counts["function's line: of its definition, eu-addr2line's is behind "
               "it"] += 1
    else:
        unclassified("function's line", hex(address), begin, other, start)


def check_inlined(address, inlined, frames, plain):
    """Names and places of call."""
    theirs = [(plain[frame["FunctionName"]],
               normal(outer["FileName"], outer["Line"]))
              for frame, outer in zip(frames, frames[1:])]
    if inlined == theirs:
        counts["inlined: llvm-symbolizer's" if inlined else
               "inlined: none, as llvm-symbolizer says"] += 1
    elif [(name.split("::")[-1], at) for name, at in inlined] == [
            (name.split("::")[-1], at) for name, at in theirs]:
        counts["inlined: llvm-symbolizer's, and we tell scopes"] += 1
    else:
        unclassified("inlined", hex(address), inlined, theirs)


def main():
    tool, path, debug, each, *debug_paths = sys.argv[1:]
    found = functions({path, debug})
    asked = list(places(found, int(each)))
    addresses = [hex(address) for address, _ in asked]
    ours = run([tool, path, *debug_paths], addresses)
    lines = list(others_lines(debug, addresses))
    frames = list(others_frames(debug, addresses))
    assert len(ours) == len(lines) == len(frames) == len(asked), (
        len(ours), len(lines), len(frames), len(asked))
    raw = {symbol for _, symbols in found.values() for symbol in symbols}
    raw |= {frame["FunctionName"] for chain in frames for frame in chain}
    raw = sorted(raw)
    plain = dict(zip(raw, run(["c++filt"], raw)))
    for (address, entry), mine, other, chain in zip(asked, ours, lines,
                                                    frames):
        name, _, begin, line, *rest = mine.split("\t")
        if entry:
            check_name(address, name, found, plain)
            check_begin(address, begin, line, other, chain)
        check_line(address, line, other, chain)
        check_inlined(address, list(zip(rest[::2], rest[1::2])), chain, plain)
    print("%s: %d functions, %d places" % (os.path.basename(path), len(found),
                                           len(asked)))
    for kind, count in sorted(counts.items()):
        print("%10d  %s" % (count, kind))
    for what in unexplained[:20]:
        print(*what)
    return 1 if unexplained else 0


sys.exit(main())

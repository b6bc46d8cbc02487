# SPDX-License-Identifier: BSD-2-Clause
"""dwarf.py OURS THEIRS FILE DEBUG_FILE STEP [DEBUG_PATH...]: function, line and
inlined calls of every STEPth address of FILE's .text, as build/tests/addresses
(OURS, by libdw) and build/tests/dwarf (THEIRS, by libdwarf) tell them. Prints
counts; each difference has a kind whose rule is checked here, and status 1
tells of differences that have none."""

import bisect
import collections
import itertools
import os
import re
import subprocess
import sys

counts = collections.Counter()
unexplained = []


def run(words, lines=None):
    text = None if lines is None else "".join(line + "\n" for line in lines)
    done = subprocess.run(words, input=text, stdout=subprocess.PIPE, text=True)
    assert lines is None or done.returncode == 0, words
    return done.stdout.splitlines()


def text_of(path):
    """Where .text begins and ends."""
    for line in run(["readelf", "-SW", path]):
        words = line.split()
        if ".text" in words:
            at = words.index(".text")
            start, size = int(words[at + 2], 16), int(words[at + 4], 16)
            return start, start + size
    sys.exit("%s: no .text" % path)


class Symbols:
    """Functions of the symbol tables, as readelf has them."""

    def __init__(self, files):
        self.addresses = collections.defaultdict(set)
        self.names = collections.defaultdict(set)
        self.sizes = collections.defaultdict(int)
        for line in run(["readelf", "-sW", "--dyn-syms", *files]):
            words = line.split()
            if len(words) < 8 or words[6] == "UND" or words[3] not in (
                    "FUNC", "IFUNC", "NOTYPE"):
                continue
            name, start = words[7].split("@")[0], int(words[1], 16)
            self.addresses[name].add(start)
            self.names[start].add(name)
            self.sizes[start] = max(self.sizes[start], int(words[2], 0))
        self.starts = sorted(self.names)
        self.reach = list(itertools.accumulate(
            (start + self.sizes[start] for start in self.starts), max))

    def aliases(self, symbol):
        return {name for start in self.addresses[symbol]
                for name in self.names[start]}

    def at(self, address):
        """The names with it: those whose size tells it, else the nearest
        before it that has no size."""
        found, index = set(), bisect.bisect_right(self.starts, address) - 1
        if index >= 0 and self.sizes[self.starts[index]] == 0:
            found |= self.names[self.starts[index]]
        while index >= 0 and self.reach[index] > address:
            start = self.starts[index]
            if start + self.sizes[start] > address:
                found |= self.names[start]
            index -= 1
        return found


def normal(place):
    path, line = place.rsplit(":", 1)
    return ("??" if path == "??" else os.path.normpath(path)) + ":" + line


def part_of(symbol):
    """f of f.cold, f.part.0, f.isra.0.constprop.0, f.cold.1, f.lto_priv.0."""
    return re.sub(r"(\.[a-z_]+(\.\d+)?|\.\d+)*$", "", symbol)


def last_of(name):
    """f of a::b<c>::f[abi:x]<d>: both demanglers and gcc spell the rest."""
    name, before = re.sub(r"\[abi:\w+\]", "", name), None
    while name != before:
        name, before = re.sub(r"<[^<>]*>", "", name), name
    return name.split("::")[-1].strip()


class Comparison:
    def __init__(self, symbols, plain):
        self.symbols = symbols
        self.plain = plain
        self.bares = {}

    def tell(self, what, place, kind, *rest):
        counts[what, kind or "UNEXPLAINED"] += 1
        if not kind:
            unexplained.append((what, hex(place)) + rest)

    def bare(self, symbol):
        """Without parameters and type, as DWARF has it."""
        if symbol not in self.bares:
            self.bares[symbol] = run(["c++filt", "-p", part_of(symbol)])[0]
        return self.bares[symbol]

    def name(self, theirs):
        """What people read of it."""
        return self.plain[theirs[1:]] if theirs[0] == "=" else theirs[1:]

    def function(self, address, symbol, theirs, start):
        raw = theirs[1:]
        if theirs in ("?", "?unit"):
            named = self.symbols.at(address)
            parts = set(map(part_of, named)) if symbol else named
            if part_of(symbol) in parts or not (symbol or named):
                return ("none in DWARF, ours is the symbol table's" if symbol
                        else "none, and no symbol has the address")
        elif symbol == raw:
            return "libdwarf's"
        elif part_of(symbol) == raw:
            return "libdwarf's, ours names the clone"
        elif raw in set(map(part_of, self.symbols.aliases(symbol))):
            return "another symbol of the same address"
        elif ({raw, symbol} <= self.symbols.at(address) and
              int(start, 16) < max(self.symbols.addresses[symbol])):
            return "another symbol that has the address, and begins later"
        elif theirs[0] == "~" and not symbol.startswith("_Z"):
            if raw.split("::")[-1] in self.symbols.aliases(symbol):
                return 'libdwarf\'s, which tells scopes of extern "C"'
        elif theirs[0] == "~":
            starts = (self.symbols.addresses[symbol] |
                      self.symbols.addresses[part_of(symbol)])
            if int(start, 16) not in starts:
                return None
            if last_of(self.bare(symbol)) == last_of(raw):
                return "libdwarf's by address, which spells it otherwise"
            if re.search(r"CI[12]", symbol):
                return ("libdwarf's by address, ours has the inherited "
                        "constructor's name")
        return None

    @staticmethod
    def line(ours, theirs, function, symbol):
        if normal(ours) == normal(theirs):
            return ("none, as libdwarf says" if theirs == "??:0" else
                    "libdwarf's")
        if function == "?" and not symbol and ours == "??:0":
            return ("none behind a unit's last function, though its line "
                    "table goes on")
        return None

    def place(self, address, ours, theirs):
        name, symbol, _, line, *inlined = ours.split("\t")
        function, start, other, *others = theirs.split("\t")
        self.tell("function", address,
                  self.function(address, symbol, function, start),
                  name, symbol, function)
        self.tell("line", address,
                  self.line(line, other, function, symbol), line, other)
        mine = list(zip(inlined[::2], map(normal, inlined[1::2])))
        their = list(zip(map(self.name, others[::2]),
                         map(normal, others[1::2])))
        kind = ("libdwarf's" if mine else "none, as libdwarf says"
                ) if mine == their else None
        self.tell("inlined", address, kind, mine, their)


def main():
    ours, theirs, path, debug, step, *debug_paths = sys.argv[1:]
    start, end = text_of(path)
    places = range(start, end, int(step))
    asked = ["%x" % place for place in places]
    mine = run([ours, path, *debug_paths], asked)
    other = run([theirs, debug], asked)
    assert len(mine) == len(other) == len(asked), (len(mine), len(other))
    raw = sorted({word[1:] for line in other for word in line.split("\t")
                  if word.startswith("=")})
    comparison = Comparison(Symbols([path, debug]),
                            dict(zip(raw, run(["c++filt"], raw))))
    for place, one, two in zip(places, mine, other):
        comparison.place(place, one, two)
    print("%s: %d addresses" % (os.path.basename(path), len(asked)))
    for (what, kind), count in sorted(counts.items()):
        print("%10d  %s: %s" % (count, what, kind))
    for what in unexplained[:int(os.environ.get("SHOWN", 20))]:
        print(*what)
    return 1 if unexplained else 0


sys.exit(main())

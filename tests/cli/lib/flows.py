# SPDX-License-Identifier: BSD-2-Clause
"""flows.py SOURCE OPTIONS TSV...: holds tab-separated replays of one program against the calls that its opening comment
says (tests/programs/flows/flow.h). OPTIONS, separated by commas: "tails": calls at the end of their caller are jumps;
"cleans": the return hook is called in clean-up code. Each difference is printed; status 1 if there is one."""
import difflib
import re
import sys
from collections import Counter

POINTS = {"throw", "rethrow", "catch", "longjmp"}
NAME = re.compile(r"flow(?:_|::)(?:\w+::)*(\w+)(?:\(.*\))?(?:\[abi:\w+\])?(?:\.(?!_omp_fn)[\w.]+)?(?: \[clone .*\])?$")


def read_trees(source):
    """{thread: (how often, [(depth, words, what became of it)])}; how often 0: some."""
    program = re.sub(r".*/|\.\w+$", "", source)
    trees, lines = {}, []
    trees[program] = (1, lines)
    for line in open(source, encoding="utf-8"):
        found = re.match(r" \* ?\t(\t*)(\[?)([^\t\n]*?)\]?(?:  (.*))?$", line.rstrip("\n"))
        if line.startswith(" */"):
            break
        if found and found[2]:
            often = re.match(r"(\d+) times|some", found[4] or "1 times")
            lines = []
            trees[found[3]] = (int(often[1] or 0), lines)
        elif found:
            lines.append((len(found[1]), found[3], (found[4] or "").strip()))
    return trees


def repeat(lines):
    """Each "N times" as so many."""
    out, i = [], 0
    while i < len(lines):
        depth, words, became = lines[i]
        end = i + 1
        while end < len(lines) and lines[end][0] > depth:
            end += 1
        often = re.match(r"(\d+) times$", became)
        block = [(depth, words, "" if often else became), *repeat(lines[i + 1:end])]
        out += block * (int(often[1]) if often else 1)
        i = end
    return out


def hoist(lines, tails):
    """Calls at the end of their caller: beside it, where they are jumps."""
    out, up = [], []
    for depth, words, became in lines:
        while up and up[-1] >= depth:
            up.pop()
        if became == "tail":
            if tails:
                up.append(depth)
            became = ""
        out.append((depth - len(up), words, became))
    return out


def show(lines, cleans):
    return ["\t" * depth + words + ("  " + became if became and not (cleans and became == "left") else "")
            for depth, words, became in lines]


def read_threads(tsv):
    """{tid: (thread's name, lines)}. Calls inside of each other as begins and ends say it, whatever their depths."""
    threads = {}
    for line in open(tsv, encoding="utf-8"):
        columns = line.rstrip("\n").split("\t")
        found = NAME.match(columns[7]) if len(columns) > 10 else None
        in_main = len(columns) > 10 and columns[0] == "P" and columns[7] == "main"
        if columns[0] not in "BESP" or not (found or in_main) or re.search(r"(\w+)::\1\(", columns[7]):
            continue # not constructors, which compilers may make and may inline
        lines, stack = threads.setdefault(columns[4], (columns[5], [], []))[1:]
        flags = columns[10].split(",")
        if columns[0] == "B":
            stack.append(len(lines))
            lines.append([len(stack) - 1, found[1], "open" if "did-not-return" in flags else ""])
        elif columns[0] == "P":
            if columns[10].partition(" ")[0] in POINTS:
                lines.append([len(stack), columns[10].strip(), ""])
        elif stack and lines[stack[-1]][1] == found[1] and columns[0] == "E" and "began-before" not in flags:
            lines[stack.pop()][2] = "left" if "abandoned" in flags else ""
            if {"ambiguous", "across-gap"} & set(flags):
                lines.append([len(stack), "(not certain)", ""])
        else:
            became = "before" if "began-before" in flags else "of no call"
            lines.append([len(stack), found[1], became])
    return [(name, lines) for name, lines, _ in threads.values()]


def compare(trees, options, tsv):
    cleans = "cleans" in options
    have = Counter((name, "\n".join(show(lines, cleans))) for name, lines in read_threads(tsv))
    want = Counter()
    for name, (often, lines) in trees.items():
        text = "\n".join(show(hoist(repeat(lines), "tails" in options), cleans))
        if not text:
            continue
        want[name, text] = often
        if often == 0:
            want[name, text] = max(1, have[name, text])
    for key in (want - have).keys() | (have - want).keys():
        others = [text for name, text in want if name == key[0]] or [""]
        print(f"{tsv}: thread {key[0]}: true {want[key]} times, told {have[key]} times")
        print("\n".join(difflib.unified_diff(others[0].split("\n"), key[1].split("\n"), "true", "told", lineterm="", n=20)))
    return want == have


source, options = sys.argv[1], sys.argv[2].split(",")
sys.exit(0 if all([compare(read_trees(source), options, tsv) for tsv in sys.argv[3:]]) else 1)

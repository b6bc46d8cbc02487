# SPDX-License-Identifier: BSD-2-Clause
"""variables.py REPORT GDB LEAST: the variables of a report's JSON are those that gdb printed behind a line "==", in its order and at
least so many. Where the two have their own ways of saying the same, both are brought to one; what gdb claims to know and the debug
information does not say is listed here, by name."""
import json
import re
import sys


def plain(text):
    text = re.sub(r"<error: Cannot access memory at address 0x[0-9a-f]+>", "<not mapped>", text)
    text = re.sub(r"(0x[0-9a-f]+) <(vtable for [^>]*|not mapped)>", r"\1", text)
    text = re.sub(r"\{<optimized out>(, <optimized out>)*\}", "<optimized out>", text)
    text = re.sub(r"@0x[0-9a-f]+: ", "", text)
    text = re.sub(r"std::unique_ptr<int> = \{get\(\) = (0x[0-9a-f]+)\}", r"std::unique_ptr = \1", text)
    return re.sub(r"\b(shop|Order|State)::", "", text)


def same(ours, gdbs):
    ours, gdbs = plain(ours), plain(gdbs)
    if re.search(r"^$|= ,|= $|\{, ", gdbs):  # its printer of the C++ library's strings does not know what clang calls them
        ours = re.sub(r'"[^"]*"', "", ours)
    if ours.endswith("..."):
        return len(ours) > 100 and gdbs.startswith(ours[:-3].rstrip())
    return ours == gdbs


report, output, least = sys.argv[1:]
place = json.load(open(report, encoding="utf-8"))["place"]
lines = open(output, encoding="utf-8", errors="replace").read().split("==\n", 1)[1].splitlines()
gdbs = dict(line.split(" = ", 1) for line in lines if " = " in line)
ours = {v["name"]: v["value"] for v in place["variables"]}
bad = 0
# clang at -O1 tells of 12 of its 160 bytes; gdb takes the rest for zeroes. Of a vector of which a part is gone gdb's printer fails.
unknown = {("zeros", "{0, 0, 0, <optimized out> <repeats 37 times>}"), ("words", "<optimized out>")}
# gcc writes a float's constant as bytes, of which gdb says nothing but an error.
unheard = {("small", "0.5")}
order = [name for name in ours if name in gdbs]
if order != list(gdbs) or any(name not in gdbs and (name, ours[name]) not in unheard for name in ours):
    print("\tnames: ours", list(ours), "gdb's", list(gdbs))
    bad += 1
for name in order:
    # The hidden variables of a range loop: gdb prints what an iterator leads to, also past the end.
    if re.fullmatch(r"__(for_)?(begin|end)\d?", name) or (name, ours[name]) in unknown:
        continue
    if not same(ours[name], gdbs[name]):
        print("\tours:", name, "=", plain(ours[name]), "\n\tgdb's:", name, "=", plain(gdbs[name]))
        bad += 1
if len(order) < int(least):
    print("\tonly", len(order), "variables")
    bad += 1
sys.exit(bad != 0)

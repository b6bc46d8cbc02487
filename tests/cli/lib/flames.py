#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""flames.py FOLDED HTML SVG: a page and a picture have the frames of the folded stacks, as wide as all that was spent in them. Prints
what differs; status 1 if anything does."""
import collections
import json
import re
import sys
import xml.etree.ElementTree as xml

folded, page, picture = sys.argv[1:]
bad = []
wanted = collections.Counter()
with open(folded, encoding="utf-8") as file:
    for line in file:
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        path = tuple(one.replace("\\x3b", ";") for one in stack.split(";"))
        for depth in range(len(path)):
            wanted[path[:depth + 1]] += int(weight)
total = sum(weight for path, weight in wanted.items() if len(path) == 1)

# The page: each frame comes before those inside of it.
with open(page, encoding="utf-8") as file:
    text = file.read()
scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.S)
if len(scripts) != 2 or re.search(r"""(src|href)\s*=|url\(|@import|https?:""", text):
    bad.append("the page: other scripts, or something to be fetched")
data = json.loads(scripts[0][1])
seen, path = collections.Counter(), []
numbers = data["frames"]
for depth, name, weight in zip(*[iter(numbers)] * 3):
    path[depth:] = [data["names"][name][0]]
    seen[tuple(path)] += weight
if seen != wanted:
    bad += [f"the page has {seen[one]}, not {wanted[one]}, of {one}" for one in set(seen) | set(wanted) if seen[one] != wanted[one]]

# The picture: rows of boxes, each inside of one above.
tree = xml.parse(picture).getroot()
space = "{http://www.w3.org/2000/svg}"
rows = collections.defaultdict(list)
for group in tree.iter(space + "g"):
    box = group.find(space + "rect")
    name = group.find(space + "title").text.split("\n")[0]
    x, y, width = (float(box.get(key)) for key in ("x", "y", "width"))
    rows[round((y - 40) / 17)].append((x, width, name))
if {one.tag for one in tree.iter()} - {space + tag for tag in ("svg", "g", "title", "rect", "text")}:
    bad.append("the picture has elements of another kind")
widths = collections.Counter()
for depth, boxes in rows.items():
    for x, width, name in boxes:
        widths[depth, name] += width
        if x < 9.99 or x + width > 1190.01:
            bad.append(f"the picture: {name} is outside")
        if depth and not any(left - 0.02 <= x and x + width <= left + wide + 0.02 for left, wide, _ in rows[depth - 1]):
            bad.append(f"the picture: {name} in row {depth} has nothing above it")
    boxes.sort()
    for (x, width, name), (other, _, _) in zip(boxes, boxes[1:]):
        if x + width > other + 0.02:
            bad.append(f"the picture: {name} covers another in row {depth}")
should, slack = collections.Counter(), collections.Counter()
for path, weight in wanted.items():
    width = 1180 * weight / total
    key = len(path) - 1, path[-1]
    should[key] += width
    slack[key] += 0.3 if width < 0.31 else 0.01  # narrow ones are not drawn
bad += [f"the picture: {key} is {widths[key]:.2f} wide, not {should[key]:.2f}" for key in should | widths
        if abs(should[key] - widths[key]) > slack[key] + 0.01]
print("\n".join(bad[:20]))
sys.exit(bool(bad))

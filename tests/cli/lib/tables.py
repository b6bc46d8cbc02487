#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tables.py FOLDER JSONL: tables hold what the jsonl of the same core does. Prints what differs; status 1 if anything does."""
import csv
import json
import sys

folder, jsonl = sys.argv[1:]
bad = []


def table(name):
    with open(f"{folder}/{name}.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    for row in rows:
        if None in row or None in row.values():
            bad.append(f"{name}: a row of another length: {row}")
    return rows


def text(value):
    """As a cell has it."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return " ".join(value)
    return str(value)


def shown(value):
    """A name: control characters are escaped in the tables, what a spreadsheet would run has a ' before it."""
    out = "".join(c if ord(c) >= 32 and not 127 <= ord(c) < 160 else "".join(f"\\x{b:02x}" for b in c.encode()) for c in value or "")
    return "'" + out if out[:1] in tuple("=+-@") else out


with open(jsonl, encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]
head = lines[0]
functions = {row["function"]: row for row in table("functions")}
if len(functions) != len(table("functions")):
    bad.append("functions: two have one number")

# Each call, whole.
wanted = {(text(one["thread"]), text(one["call"])): one for one in lines if one["type"] == "call"}
calls = table("calls")
if len(calls) != len(wanted):
    bad.append(f"calls: {len(calls)}, not {len(wanted)}")
same = ("parent", "depth", "begin_ns", "end_ns", "duration_ns", "duration_least_ns",
        "duration_most_ns", "self_ns", "begin_earliest_ns", "begin_latest_ns",
        "end_earliest_ns", "end_latest_ns", "unsure_wait_ns", "flags")
for row in calls:
    one = wanted.pop((row["thread"], row["call"]), None)
    if one is None:
        bad.append(f"calls: one too many: {row}")
        continue
    for key in same:
        if row[key] != text(one.get(key)):
            bad.append(f"calls: {key} is {row[key]}, not {one.get(key)}, of {one}")
    if int(row["address"]) != int(one["address"], 16):
        bad.append(f"calls: address {row['address']}, not {one['address']}")
    function = functions[row["function"]]
    for key, cell in (("function", "name"), ("module", "module"), ("file", "file"), ("line", "line")):
        # jsonl has bytes that are no UTF-8 as U+FFFD.
        if "\\x" not in function[cell] and function[cell] != shown(text(one[key])):
            bad.append(f"functions: {cell} is {function[cell]}, not {one[key]}")
    states = [row[key] for key in ("running_ns", "ready_ns", "blocked_ns", "unknown_ns")]
    if any(states) and abs(sum(map(int, states)) - (int(row["end_ns"]) - int(row["begin_ns"]))) > 2:
        bad.append(f"calls: the states of {row} do not add up")

# Notes and other points, and spans by their ends.
points = [one for one in lines if one["type"] == "point"]
notes = [one for one in points if not one["point"].startswith("span")]
if [(text(one["thread"]), text(one["time_ns"]), one["point"], shown(one.get("text"))) for one in notes] != \
        [(row["thread"], row["time_ns"], row["kind"], row["text"]) for row in table("notes")]:
    bad.append("notes differ")
begun = {(text(one["thread"]), text(one["span"])): one for one in points if one["point"] == "span-begin"}
ended = {(text(one["thread"]), text(one["span"])): one for one in points if one["point"] == "span-end"}
spans = table("spans")
if sorted((row["thread"], row["span"]) for row in spans) != sorted(set(begun) | set(ended)):
    bad.append("spans: others")
for row in spans:
    key = row["thread"], row["span"]
    if row["end_ns"] != text(ended[key]["time_ns"] if key in ended else None):
        bad.append(f"spans: the end of {row}")
    if key in begun and row["begin_ns"] != text(begun[key]["time_ns"]):
        bad.append(f"spans: the begin of {row}")
if len(table("gaps")) != sum(one["type"] == "gap" for one in lines):
    bad.append("gaps: others")

process, = table("process")
for key in ("program", "pid", "zero_realtime_ns", "last_ns"):
    if process[key] != text(head[key]):
        bad.append(f"process: {key} is {process[key]}, not {head[key]}")
if [(row["thread"], row["tid"], row["ended"], row["whole"]) for row in table("threads")] != \
        [tuple(text(one[key]) for key in ("thread", "tid", "ended", "whole")) for one in head["threads"]]:
    bad.append("threads: others")
for row in table("frames"):
    if not row["name"] or not row["pc"]:
        bad.append(f"frames: {row}")
if not any(row["path"] == head["program"] for row in table("modules")):
    bad.append("modules: without the program")
print("\n".join(bad[:20]))
sys.exit(bool(bad))

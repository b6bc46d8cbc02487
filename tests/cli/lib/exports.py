# SPDX-License-Identifier: BSD-2-Clause
# exports.py FORMAT TSV FILE...: does the export tell the same calls as replay --format=tsv does? Each format is read as its
# readers do, and compared call by call; what differs is printed, and the status is then 1. For traces in which all calls
# nest in one stack per thread and none began before the history.
import json
import re
import sys
from collections import Counter, defaultdict

from perfetto import Trace

NAMES = {"approximate", "abandoned", "across-gap", "ambiguous", "did-not-return"}
DEEPEST, DEEPER = 1000, "[deeper than 1000 frames]"
PERFETTO_DEEPEST, PERFETTO_DEEPER = 500, "[deeper than 500 frames]"
wrong = 0


def differ(*words):
    global wrong
    wrong += 1
    if wrong <= 10:
        print(*(text if len(text) < 300 else text[:300] + "..." for text in map(str, words)))


paths = {}


def path_of(outer, function):
    """A number for a stack, by the number of what is outside of it."""
    return paths.setdefault((outer, function), len(paths))


class Call:
    def __init__(self, row):
        self.tid, self.thread, self.function = int(row["tid"]), row["thread"], row["function"]
        self.begin, self.end = int(row["time_ns"]), None
        self.interval = (row["earliest_ns"], row["latest_ns"])
        self.flags = {f for f in row["flags"].split(",") if f in NAMES}
        self.inner, self.caller, self.level, self.path = 0, None, 0, None
        self.again = self.edge_again = False  # a caller of it is the same; so is its caller's

    def called_by(self, caller, active):
        """`active`: how often functions and pairs of them are open in the thread."""
        self.again = active[self.function] > 0
        active[self.function] += 1
        if caller:
            self.caller, self.level = caller, caller.level + 1
            self.edge_again = active[self.edge()] > 0
            active[self.edge()] += 1
        self.path = path_of(caller and caller.path, self.function)

    def edge(self):
        return self.caller.function, self.function

    def left(self, active):
        active[self.function] -= 1
        if self.caller:
            active[self.edge()] -= 1

    def stack(self, deepest):
        """The names, outermost first: of those that are not deeper than that."""
        call, names = self, []
        while call.level >= deepest:
            call = call.caller
        while call:
            names.append(call.function)
            call = call.caller
        return tuple(reversed(names))

    def ran(self, last):
        return (last if self.end is None else self.end) - self.begin


def read_tsv(path):
    """The calls of each thread, as they began, and the trace's end."""
    calls, open_, active, end = defaultdict(list), defaultdict(list), defaultdict(Counter), None
    with open(path, encoding="utf-8") as lines:
        columns = next(lines).lstrip("# ").rstrip("\n").split("\t")
        for line in lines:
            row = dict(zip(columns, line.rstrip("\n").split("\t")))
            if end is None:
                assert row["event"] == "# end", line
                end = int(row["time_ns"])
                continue
            assert int(row["time_ns"]) <= end, line
            tid = int(row["tid"])
            if row["event"] == "B":
                call = Call(row)
                call.called_by(open_[tid][-1] if open_[tid] else None, active[tid])
                calls[tid].append(call)
                open_[tid].append(call)
            elif row["event"] == "E":
                assert "began-before" not in row["flags"], line
                call = open_[tid].pop()
                call.left(active[tid])
                assert call.function == row["function"], (call.function, line)
                call.end = int(row["time_ns"])
                call.end_interval = (row["earliest_ns"], row["latest_ns"])
                call.flags |= {f for f in row["flags"].split(",") if f in NAMES}
                if open_[tid]:
                    open_[tid][-1].inner += call.end - call.begin
    for stack in open_.values():
        for outer, call in zip(stack, stack[1:]):
            outer.inner += end - call.begin
    return calls, end


def viztracer(calls, last, path):
    """As for chrome; and each event's name is a key of file_info, which leads to a file whose text is there."""
    trace = json.load(open(path, encoding="utf-8"))
    functions, files = trace["file_info"]["functions"], trace["file_info"]["files"]
    for event in trace["traceEvents"]:
        if event["ph"] not in "XB":
            continue
        file, line = functions[event["name"]]
        text, count = files[file]
        if not 1 <= line <= count:
            differ(event["name"], "is in line", line, "of", count)
        suffix = f" ({file}:{line})"
        assert event["name"].endswith(suffix), event
        event["name"] = event["name"][:-len(suffix)]
    chrome(calls, last, path, trace)


def chrome(calls, last, path, trace=None):
    trace = trace or json.load(open(path, encoding="utf-8"))
    events, names = defaultdict(list), {}
    for event in trace["traceEvents"]:
        if event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
        if event["ph"] in "XB":
            events[event["tid"]].append(event)
    for tid, ours in calls.items():
        theirs = sorted(events.pop(tid, []), key=lambda e: e["ts"])
        if names.get(tid) != ours[0].thread:
            differ(tid, "is called", names.get(tid))
        if [c.function for c in ours] != [e["name"] for e in theirs]:
            differ(tid, "functions differ:", len(ours), len(theirs))
            continue
        stack = []  # as a viewer nests them: by times alone
        for call, event in zip(ours, theirs):
            begin = round(event["ts"] * 1000)
            end = begin + round(event["dur"] * 1000) if "dur" in event else float("inf")
            while stack and stack[-1] <= begin:
                stack.pop()
            if stack and stack[-1] <= end and end != float("inf"):
                differ(call.function, "at", begin, "does not nest")
            if len(stack) != call.level:
                differ(call.function, "at", begin, "is at level", len(stack))
            stack.append(end)
            # Events of one time are told apart by a few ns.
            if not 0 <= begin - call.begin <= 2 * len(ours) + 2:
                differ(call.function, "begins at", begin, "not", call.begin)
            if call.end is None:
                if event["ph"] != "B" or event["args"].get("unfinished") != "did not return":
                    differ(call.function, "did not return:", event)
            elif not 0 <= end - call.end <= 4 * len(ours) + 4:
                differ(call.function, "ends at", end, "not", call.end)
            args = event["args"]
            if ("approximate" in call.flags) != ("begin" in args or "end" in args):
                differ(call.function, call.flags, args)
            if ("abandoned" in call.flags) != ("ended" in args):
                differ(call.function, call.flags, args)
        stamps = [e["ts"] for e in theirs]
        if len(set(stamps)) != len(stamps):
            differ(tid, "two calls begin at one time")
    if any(events.values()):
        differ("threads of their own:", list(events))


def jsonl(calls, last, path):
    lines = [json.loads(line) for line in open(path, encoding="utf-8")]
    header, end, rest = lines[0], lines[-1], lines[1:-1]
    if (header["type"], end) != ("header", {"type": "end", "lines": len(rest)}):
        differ("first and last line:", header["type"], end)
    by_key = {(c["thread"], c["call"]): c for c in rest if c["type"] == "call"}
    want, got = Counter(), Counter()
    for ours in calls.values():
        for c in ours:
            want[(c.tid, c.thread, c.path, c.begin, c.end, c.begin - c.begin if c.end is None else c.ran(last) - c.inner,
                  tuple(sorted(c.flags)))] += 1

    def stack_of(call):
        chain = []
        while call and "path" not in call:
            chain.append(call)
            call = by_key.get((call["thread"], call["parent"]))
        for one in reversed(chain):
            one["path"] = path_of(call and call["path"], one["function"])
            call = one
        return call["path"]

    for call in by_key.values():
        got[(call["tid"], call["thread_name"], stack_of(call), call["begin_ns"], call["end_ns"], call.get("self_ns", 0),
             tuple(sorted(set(call.get("flags", [])) & NAMES)))] += 1
        # Unless it is known to be within bounds alone, which hold that.
        if call["end_ns"] is not None:
            took = call["end_ns"] - call["begin_ns"]
            if call["duration_ns"] is None and not call["duration_least_ns"] - 2 <= took <= call["duration_most_ns"] + 2 or \
                    call["duration_ns"] not in (None, took):
                differ("duration:", call)
        low, high = call.get("begin_earliest_ns", call["begin_ns"]), call.get("begin_latest_ns", call["begin_ns"])
        if low > call["begin_ns"] or (high is not None and high < call["begin_ns"]):
            differ("interval:", call)
    for key in (want - got):
        differ("jsonl has not", key)
    for key in (got - want):
        differ("jsonl has", key)


def perfetto(calls, last, path):
    """`path`: what protoc printed. Calls are slices of no category or `approximate`; times are ours to the nanosecond."""
    trace = Trace(path)
    tids = {tid: (name, uuid) for tid, name, uuid in trace.threads()}
    if sorted(tids) != sorted(calls):
        differ("threads", sorted(tids), "not", sorted(calls))
    for tid, ours in calls.items():
        name, uuid = tids[tid]
        if name != ours[0].thread:
            differ(tid, "is called", name)
        theirs = [s for s in trace.slices[uuid] if s.categories in ([], ["approximate"], ["deep"])]
        ours = [c for c in ours if c.level <= PERFETTO_DEEPEST]
        want = [(c.level, c.function if c.level < PERFETTO_DEEPEST else PERFETTO_DEEPER, c.begin, c.end) for c in ours]
        same(tid, want, [(s.depth, s.name, s.begin, s.end) for s in theirs])
        for call, their in zip(ours, theirs):
            if call.level == PERFETTO_DEEPEST:
                continue
            if ("approximate" in call.flags) != (bool(their.categories) or "end" in their.args):
                differ(call.function, call.flags, their.categories, their.args)
            if ("abandoned" in call.flags) != ("ended" in their.args):
                differ(call.function, call.flags, their.args)


def folded(path):
    stacks = Counter()
    for line in open(path, encoding="utf-8"):
        match = re.fullmatch(r"(.+) (\d+)\n", line)
        assert match, line
        stacks[tuple(match[1].split(";"))] += int(match[2])
    return stacks


def as_frame(name):
    return name.replace(";", "\\x3b")


def collapsed(calls, last, path, weight="self-time"):
    want = Counter()
    for tid, ours in calls.items():
        for c in ours:
            stack = tuple(map(as_frame, c.stack(DEEPEST))) + (DEEPER,) * (c.level >= DEEPEST)
            stack = (f"{as_frame(c.thread)} ({tid})",) + stack
            want[stack] += 1 if weight == "calls" else c.ran(last) - c.inner
    want = +want
    got = folded(path)
    for stack in want.keys() | got.keys():
        if want[stack] != got[stack]:
            differ(";".join(stack), "has", got[stack], "not", want[stack])


def opened(calls, last):
    """The calls as speedscope's format has them: level, name, ns."""
    return [(c.level, c.function if c.level < DEEPEST else DEEPER, c.ran(last)) for c in calls if c.level <= DEEPEST]


def same(name, want, got):
    for a, b in zip(want, got):
        if a != b:
            differ(name, "has", b, "not", a)
            return
    if len(want) != len(got):
        differ(name, "has", len(got), "calls, not", len(want))


def speedscope(calls, last, path):
    """The file itself: frames open and close in order, those open last first."""
    file = json.load(open(path, encoding="utf-8"))
    frames = file["shared"]["frames"]
    for profile in file["profiles"]:
        ours = calls[int(re.search(r" \((\d+)\)", profile["name"])[1])]
        got, stack, now = [], [], profile["startValue"]
        for event in profile["events"]:
            assert event["at"] >= now, event
            now = event["at"]
            if event["type"] == "O":
                stack.append((event["frame"], len(got), now))
                got.append((len(stack) - 1, frames[event["frame"]]["name"]))
            else:
                frame, index, began = stack.pop()
                assert frame == event["frame"], event
                got[index] += (now - began,)
        if stack or now != profile["endValue"]:
            differ(profile["name"], "ends with", stack, now)
        same(profile["name"], opened(ours, last), got)
        if ("did not return" in profile["name"]) != any(c.end is None for c in ours):
            differ(profile["name"])
        if ("approximate" in profile["name"]) != any("approximate" in c.flags for c in ours):
            differ(profile["name"])
    if len(file["profiles"]) != len(calls):
        differ(len(file["profiles"]), "profiles, not", len(calls))


def imported(calls, last, path, unit="nanoseconds"):
    """What speedscope.js printed of our file, or of the one for chrome. Its call tree has no calls that took no time."""
    per_ns, profiles = {"nanoseconds": 1, "microseconds": 1000}[unit], {}
    for line in open(path, encoding="utf-8"):
        kind, *rest = line.rstrip("\n").split("\t")
        if kind == "profile":
            profiles[int(re.search(r" \((?:tid )?(\d+)\)(?:;|$)", rest[0])[1])] = theirs = []
            total = round(float(rest[1]) * per_ns)
            theirs.append(total)
            if rest[2] != unit:
                differ(line)
        elif kind == "call":
            name = rest[1].split(" {\"")[0] if unit == "microseconds" else rest[1]
            theirs.append((int(rest[0]), name, round(float(rest[2]) * per_ns)))
        elif not (kind == "warning" and unit == "microseconds" and "did not return" in line and "Closing auto" in line):
            differ(line)
    if sorted(profiles) != sorted(calls):
        differ("threads", sorted(profiles), "not", sorted(calls))
    for tid, (total, *theirs) in profiles.items():
        ours = calls[tid]
        if unit == "microseconds":  # what did not return has no end in chrome's file: it is closed at its thread's last event
            last = max(c.end or c.begin for c in ours)
        span = max(last if c.end is None else c.end for c in ours) - ours[0].begin
        if unit == "nanoseconds":
            if total != span:
                differ(tid, "has", total, "ns, not", span)
            same(tid, [c for c in opened(ours, last) if c[2]], theirs)
            continue
        # Events of one time are told apart by a few ns, so all calls but a last one, which did not return, took some.
        if not 0 <= total - span <= 4 * len(ours):
            differ(tid, "has", total, "ns, not", span)
        want = [(c.level, c.function) for c in ours]
        if ours[-1].end is None and ours[-1].begin == last:
            want.pop()
        same(tid, want, [c[:2] for c in theirs])


def dot(calls, last, path):
    """`path`: what gvpr printed: N node name calls self total, E from to calls total. A backslash is two in a name."""
    nodes, edges = defaultdict(lambda: [0, 0, 0]), defaultdict(lambda: [0, 0])
    for ours in calls.values():
        for c in ours:
            node = nodes[c.function]
            node[0] += 1
            node[1] += c.ran(last) - c.inner
            if not c.again:
                node[2] += c.ran(last)
            if c.caller:
                edge = edges[c.edge()]
                edge[0] += 1
                edge[1] += 0 if c.edge_again else c.ran(last)
    got_nodes, got_edges, names = {}, {}, {}
    for line in open(path, encoding="utf-8"):
        kind, *rest = line.rstrip("\n").split("\t")
        if kind == "N":
            name = names[rest[0]] = rest[1].replace("\\\\", "\\")
            got_nodes[name] = [int(n) for n in rest[2:]]
        else:
            got_edges[names[rest[0]], names[rest[1]]] = [int(n) for n in rest[2:]]
    for what, want, got in ("function", nodes, got_nodes), ("edge", edges, got_edges):
        for key in want.keys() | got.keys():
            if want.get(key) != got.get(key):
                differ(what, key, "has", got.get(key), "not", want.get(key))


if __name__ == "__main__":
    form, tsv, *arguments = sys.argv[1:]
    globals()[form](*read_tsv(tsv), *arguments)
    sys.exit(wrong != 0)

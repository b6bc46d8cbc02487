# SPDX-License-Identifier: BSD-2-Clause
"""funtrace.py: a reader of funtrace.raw by its format's description alone, in the manner of funtrace2viz. Raw(path).threads:
(pid, tid, name), entries, unused. Raw.calls(entries): [depth, function, begin, end or None] in the order of the begins;
functions by nm of the file that PROCMAPS names.

	funtrace.py CORE.jsonl RAW LEAST    each call of what `epitaph export -f jsonl` says has the same caller and the same times
	                                    in the funtrace.raw, and there are no others; LEAST of them at the least
	funtrace.py --again CORE.jsonl RAW.jsonl    what epitaph makes of the funtrace.raw is the same, also which calls were left;
	        RAW.jsonl ''                        where no file names the functions: but for the names
	funtrace.py --slices JSON RAW       the same of what `-f viztracer` draws: a call that goes on later is two
"""
import bisect, json, struct, subprocess, sys

RETURN, INTO, UNWOUND = 1 << 63, 1 << 62, 1 << 61
MASK = (1 << 61) - 1

class Raw:
    def __init__(self, path):
        data, at, self.threads, self.closed = open(path, "rb").read(), 0, [], 0
        self.chunks, self.events = [], []
        who = None
        while at < len(data):
            magic, size = data[at:at + 8], struct.unpack_from("<Q", data, at + 8)[0]
            body = data[at + 16:at + 16 + size]
            assert len(body) == size, (magic, size)
            at += 16 + size
            self.chunks.append(magic)
            if magic == b"PROCMAPS":
                self.maps = [self.line(l) for l in body.decode("utf-8").splitlines()]
            elif magic == b"FUNTRACE":
                assert size == 8
                self.hz = struct.unpack("<Q", body)[0]
            elif magic == b"CMD LINE":
                self.command = body.decode("utf-8")
            elif magic == b"THREADID":
                assert size == 32
                pid, tid, name = struct.unpack("<QQ16s", body)
                assert name[15] == 0
                who = pid, tid, name.rstrip(b"\0").decode("utf-8")
            elif magic == b"TRACEBUF":
                assert size % 16 == 0 and who
                entries = [e for e in struct.iter_unpack("<QQ", body) if e != (0, 0)]
                assert all(a[1] < b[1] for a, b in zip(entries, entries[1:])), "two at one time"
                self.threads.append((who, entries, size // 16 - len(entries)))
                who = None
            elif magic == b"FTRACETX":
                self.events = [self.event(l) for l in body.decode("utf-8").splitlines()]
                assert body.endswith(b"\n") and self.events
            elif magic == b"ENDTRACE":
                assert size == 0
                self.closed += 1
            else:
                assert magic == b"BUILDIDS", magic
        assert at == len(data) and self.closed == 1
        self.tables, self.named = {}, {}

    @staticmethod
    def line(text):
        span, permissions, offset, device, inode, path = text.split(None, 5)
        assert permissions == "r-xp" and device == "00:00" and inode == "0"
        start, end = (int(x, 16) for x in span.split("-"))
        return start, end, int(offset, 16), path

    # "task-pid [cpu] flags TSC: event: text", as trace_pipe with the TSC for a clock: (TSC, event, text).
    @staticmethod
    def event(text):
        before, event, rest = text.split(": ", 2)
        task, cpu, flags, time = before.rsplit(None, 3)
        assert cpu[0] == "[" and cpu[-1] == "]" and len(flags) >= 4 and "-" in task, text
        return int(time), event, rest

    # As procaddr2sym: the program header that the line's offset lies in, then the symbol.
    def name(self, address):
        if address not in self.named:
            self.named[address] = self.find(address)
        return self.named[address]

    def find(self, address):
        for start, end, offset, path in self.maps:
            if start <= address < end:
                break
        else:
            return None
        if path not in self.tables:
            loads, symbols = [], set()
            for l in subprocess.check_output(["readelf", "-lW", path], text=True).splitlines():
                w = l.split()
                if w[:1] == ["LOAD"]:
                    loads.append([int(x, 16) for x in w[1:5]])
            for l in subprocess.check_output(["nm", "--defined-only", path], text=True).splitlines():
                w = l.split()
                if len(w) == 3 and w[1] in "tTwW":
                    symbols.add((int(w[0], 16), w[2].split(".")[0]))
            self.tables[path] = loads, sorted(symbols)
        loads, symbols = self.tables[path]
        for p_offset, p_vaddr, _, p_filesz in loads:
            if p_offset <= offset < p_offset + p_filesz:
                static = address - start + offset - p_offset + p_vaddr
                return symbols[bisect.bisect(symbols, (static, "\x7f")) - 1][1]
        return None

    def calls(self, entries):
        return [call[:4] for call in self.pair(entries)]

    # The same with the caller's index, None: none, and the address. A return that meets no call: begin None.
    def pair(self, entries):
        out, stack, last = [], [], 0
        for code, time in entries:
            assert time >= last, "times go back"
            last = time
            function = self.name(code & MASK)
            flags = code & (RETURN | INTO)
            if not flags:
                caller = stack[-1] if stack else None
                stack.append(len(out))
                out.append([len(stack) - 1, function, time, None, caller, code & MASK])
            elif flags == RETURN | INTO:
                while stack and out[stack[-1]][1] != function:
                    out[stack.pop()][3] = time
            else:
                assert flags == RETURN
                if not stack:
                    out.append([0, function, None, time, None, code & MASK])
                while stack:
                    top = out[stack.pop()]
                    top[3] = time
                    if top[1] == function:
                        break
        return out


def same_calls(jsonl, raw, least):
    lines = [json.loads(line) for line in open(jsonl)]
    head = lines[0]
    rows = {}
    for line in lines[1:]:
        if line["type"] == "call":
            rows.setdefault(line["thread"], []).append(line)
    rows = {thread: sorted(some, key=lambda row: row["call"]) for thread, some in rows.items()}
    assert sum(map(len, rows.values())) >= least, rows
    tids = {thread["thread"]: thread["tid"] for thread in head["threads"]}
    tracks = [(who[1], entries) for who, entries, _ in raw.threads]
    assert [tids[thread] for thread in sorted(rows)] == [tid for tid, _ in tracks], (tids, tracks)
    for thread, (tid, entries) in zip(sorted(rows), tracks):
        want, calls = rows[thread], raw.pair(entries)
        befores = [row for row in want if row["begin_ns"] is None]
        want = [row for row in want if row["begin_ns"] is not None]
        unmet = [call for call in calls if call[2] is None]
        kept = [i for i, call in enumerate(calls) if call[2] is not None]
        assert len(unmet) == len(befores), (tid, [call[1] for call in unmet], befores)
        # The order of the begins is that of the numbers; times that are in doubt may fall together.
        number = {i: row["call"] for i, row in zip(kept, want)}
        shift = None
        for i, row in zip(kept, want):
            depth, function, begin, end, caller, address = calls[i]
            assert address == int(row["address"], 16), (tid, function, row)
            parent = row["parent"] if row["parent"] in number.values() else None
            assert number.get(caller) == parent, (tid, function, number.get(caller), row)
            begin = (begin - first_of(raw)) * 1e9 / raw.hz
            shift = begin - row["begin_ns"] if shift is None else shift
            slack = 25 + len(calls) / raw.hz * 1e9  # a cycle for each that would be of one time
            assert abs(begin - row["begin_ns"] - shift) < slack, (tid, function, begin, row)
            assert (end is None) == (row["end_ns"] is None), (tid, function, end, row)
            if end is not None:
                end = (end - first_of(raw)) * 1e9 / raw.hz
                assert abs(end - row["end_ns"] - shift) < slack, (tid, function, end, row)
        assert len(kept) == len(want), (tid, [calls[i][1] for i in kept], [row["function"] for row in want])


def first_of(raw):
    return min(entries[0][1] for _, entries, _ in raw.threads)


# Slices as they are drawn: (tid, function, begin, end or None), and the one around each by its times.
def same_slices(path, raw):
    events = [e for e in json.load(open(path))["traceEvents"] if e["ph"] in "XB"]
    for who, entries, _ in raw.threads:
        calls = [call for call in raw.pair(entries) if call[2] is not None]
        drawn = sorted((e for e in events if e["tid"] == who[1] and "began" not in e.get("args", {})), key=lambda e: e["ts"])
        names = [e["name"].split(" (")[0].split("(")[0] for e in drawn]
        assert [call[1] for call in calls] == names, (who, [c[1] for c in calls][:40], names[:40])
        for call, e in zip(calls, drawn):
            assert (call[3] is None) == (e["ph"] == "B"), (call, e)
            if call[3] is not None:
                took = (call[3] - call[2]) * 1e6 / raw.hz
                assert abs(took - e["dur"]) < 0.1 + len(calls) * 0.002, (call, e)
        inside = []
        for e in drawn:
            while inside and inside[-1] <= e["ts"]:
                inside.pop()
            assert not inside or e["ph"] == "B" or inside[-1] >= e["ts"] + e["dur"] - 0.0005, e
            inside.append(e["ts"] + e["dur"] if e["ph"] == "X" else float("inf"))


def same_again(one, other, named=True):
    def rows(path):
        lines = [json.loads(line) for line in open(path)]
        calls = sorted((line for line in lines if line["type"] == "call"), key=lambda row: (row["thread"], row["call"]))
        number = {(row["thread"], row["call"]): i for i, row in enumerate(calls)}
        return [(row, number.get((row["thread"], row["parent"]))) for row in calls]
    one, other = rows(one), rows(other)
    assert len(one) == len(other), (len(one), len(other))
    shift = None
    for (a, caller), (b, other_caller) in zip(one, other):
        assert caller == other_caller and (not named or a["function"] == b["function"]), (a, caller, b, other_caller)
        for which in "begin_ns", "end_ns":
            assert (a[which] is None) == (b[which] is None), (a, b)
            if a[which] is not None:
                shift = a[which] - b[which] if shift is None else shift
                assert abs(a[which] - b[which] - shift) < 25 + len(one), (a, b)
        left = ["abandoned" in row.get("flags", []) for row in (a, b)]
        assert left[0] == left[1], (a, b)


if __name__ == "__main__":
    if sys.argv[1] == "--again":
        same_again(*sys.argv[2:])
    elif sys.argv[1] == "--slices":
        same_slices(sys.argv[2], Raw(sys.argv[3]))
    else:
        same_calls(sys.argv[1], Raw(sys.argv[2]), int(sys.argv[3]))

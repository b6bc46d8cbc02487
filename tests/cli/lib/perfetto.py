# SPDX-License-Identifier: BSD-2-Clause
# perfetto.py: reads what protoc --decode=Trace printed of a Perfetto trace (schemas/perfetto.proto), as Perfetto's trace
# processor does: packets one by one, each with the state of its sequence; then events by time, which begin and end slices on
# their tracks. Whatever a reader would have to guess, drop or repair is an error here.
import re
from collections import defaultdict

LEVELS = 512  # deeper slices the trace processor drops; their ends then end others
CLEARED, NEEDS = 1, 2
BOOTTIME, OWN = 6, 64
BEGIN, END, INSTANT, COUNTER = "TYPE_SLICE_BEGIN", "TYPE_SLICE_END", "TYPE_INSTANT", "TYPE_COUNTER"
LINE = re.compile(r'\s*(?:(\w+) \{|(\})|(\w+): (?:"((?:[^"\\]|\\.)*)"|(\S+)))$')
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "'": "'", "\\": "\\"}


def unescape(text):
    if "\\" not in text:
        return text
    out = re.sub(r"\\([0-7]{3}|.)", lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else ESCAPES[m[1]], text)
    return out.encode("latin-1").decode("utf-8")  # strictly


def messages(path):
    """Each packet: a dict of lists."""
    stack = []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            match = LINE.match(line)
            assert match, line
            opened, closed, key, text, value = match.groups()
            assert not (opened or key or "").isdigit(), f"a field that nobody wrote down: {line}"
            if opened:
                message = defaultdict(list)
                if stack:
                    stack[-1][opened].append(message)
                stack.append(message)
            elif closed:
                message = stack.pop()
                if not stack:
                    yield message
            else:
                stack[-1][key].append(unescape(text) if value is None else value)
    assert not stack


def one(message, key, default=None):
    values = message.get(key, [])
    assert len(values) <= 1, (key, values)
    return values[0] if values else default


def number(message, key, default=None):
    value = one(message, key)
    return default if value is None else int(value)


class Sequence:
    def __init__(self):
        self.clock, self.now, self.track, self.names, self.categories, self.cleared = BOOTTIME, None, None, {}, {}, False
        self.keys, self.values = {}, {}


class Slice:
    def __init__(self, begin, depth, event, parent):
        self.begin, self.end, self.depth, self.parent = begin, None, depth, parent
        self.name, self.categories, self.args = event["name"], event["categories"], dict(event["args"])


class Trace:
    def __init__(self, path):
        self.tracks, self.sequences, self.events, self.bundles = {}, defaultdict(Sequence), [], []
        self.realtime = None
        for packet in messages(path):
            self.packet(packet)
        self.slices, self.instants, self.counters = defaultdict(list), defaultdict(list), defaultdict(list)
        self.flows = defaultdict(list)
        self.play()

    def threads(self):
        """(tid, name, uuid)"""
        for uuid, track in self.tracks.items():
            thread = one(track, "thread")
            if thread:
                yield number(thread, "tid"), one(thread, "thread_name"), uuid

    # packets

    def packet(self, packet):
        sequence = self.sequences[number(packet, "trusted_packet_sequence_id")]
        flags = number(packet, "sequence_flags", 0)
        if flags & CLEARED:
            sequence.__init__()
            sequence.cleared = True
        assert not flags & NEEDS or sequence.cleared
        self.defaults(one(packet, "trace_packet_defaults"), sequence)
        self.interned(one(packet, "interned_data"), sequence)
        self.snapshot(one(packet, "clock_snapshot"), sequence)
        if one(packet, "track_descriptor"):
            self.descriptor(one(packet, "track_descriptor"))
        if one(packet, "ftrace_events"):
            self.bundles.append(one(packet, "ftrace_events"))
        if one(packet, "track_event"):
            self.event(packet, one(packet, "track_event"), sequence, flags & NEEDS)

    @staticmethod
    def defaults(given, sequence):
        if given:
            sequence.clock = number(given, "timestamp_clock_id")
            sequence.track = number(one(given, "track_event_defaults"), "track_uuid")

    @staticmethod
    def interned(given, sequence):
        for field, texts in (("event_names", sequence.names), ("event_categories", sequence.categories),
                             ("debug_annotation_names", sequence.keys),
                             ("debug_annotation_string_values", sequence.values)):
            for entry in given[field] if given else []:
                iid = number(entry, "iid")
                assert iid and iid not in texts, iid
                texts[iid] = one(entry, "str" if "values" in field else "name")

    def snapshot(self, given, sequence):
        clocks = {number(clock, "clock_id"): clock for clock in given["clocks"]} if given else {}
        if OWN in clocks:
            assert one(clocks[OWN], "is_incremental") == "true"
            assert number(clocks[OWN], "timestamp") == number(clocks[BOOTTIME], "timestamp")
            sequence.now = number(clocks[OWN], "timestamp")
        if 1 in clocks:
            self.realtime = number(clocks[1], "timestamp") - number(clocks[BOOTTIME], "timestamp")

    def descriptor(self, track):
        uuid, parent = number(track, "uuid"), number(track, "parent_uuid")
        assert uuid and uuid not in self.tracks, uuid
        assert parent is None or parent in self.tracks, track
        self.tracks[uuid] = track

    def event(self, packet, event, sequence, needs):
        time = number(packet, "timestamp")
        if sequence.clock == OWN:
            assert needs, packet
            sequence.now += time
            time = sequence.now
        track = number(event, "track_uuid", sequence.track)
        assert track in self.tracks, packet
        name = one(event, "name")
        if one(event, "name_iid"):
            name = sequence.names[number(event, "name_iid")]
        categories = [sequence.categories[int(iid)] for iid in event["category_iids"]] + event["categories"]
        assert len(categories) == len(set(categories)), categories
        args = {}
        for annotation in event["debug_annotations"]:
            fields = {field: one(annotation, field) for field in annotation}
            key = fields.pop("name", None) or sequence.keys[int(fields.pop("name_iid"))]
            (field, value), = fields.items()
            assert key not in args, key
            args[key] = sequence.values[int(value)] if field == "string_value_iid" else value
        self.events.append((time, len(self.events), track, {
            "type": one(event, "type"), "name": name, "categories": categories, "args": args,
            "value": one(event, "double_counter_value"), "flows": event["flow_ids"], "ends": event["terminating_flow_ids"]}))

    # events

    def play(self):
        stacks = defaultdict(list)
        for time, _, track, event in sorted(self.events, key=lambda e: e[:2]):
            stack, kind = stacks[track], event["type"]
            assert (kind == COUNTER) == bool(one(self.tracks[track], "counter")), event
            if kind == BEGIN:
                assert event["name"] is not None and len(stack) < LEVELS, (event, len(stack))
                stack.append(Slice(time, len(stack), event, stack[-1] if stack else None))
                self.slices[track].append(stack[-1])
            elif kind == END:
                assert stack and not event["name"] and not event["categories"], event
                ended = stack.pop()
                assert not set(ended.args) & set(event["args"]), event
                ended.end = time
                ended.args.update(event["args"])
            elif kind == INSTANT:
                self.instants[track].append((time, event))
                for flow in event["flows"] + event["ends"]:
                    self.flows[flow].append((time, track, event, flow in event["ends"]))
            else:
                assert kind == COUNTER, event
                self.counters[track].append((time, float(event["value"])))

# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_trace.py: as much of an arena as a list of threads needs: process
facts, clock, thread table, blocks. Calls are the business of `epitaph report`
and its fellows. Damage is counted and never stops it."""

import struct

import epitaph_format as fmt
from epitaph_root import unpack
from epitaph_source import text

MASK = (1 << 64) - 1
STAMP_MASK = 0xffff


def block_check(block, offset, identity):
    """ep_block_check of runtime/format.h."""
    x = identity ^ offset
    x = (x ^ block["tsc"]) * 0xff51afd7ed558ccd & MASK
    x ^= x >> 32
    x = (x ^ block["sequence"]) * 0xc4ceb9fe1a85ec53 & MASK
    x ^= x >> 32
    x = (x ^ block["owner"] ^ block["every"] << 32 ^ block["flags"] << 40
         ^ block["reserved"] << 48) * 0x9e3779b97f4a7c15 & MASK
    x ^= x >> 29
    return x | 1


def last_time(tsc, records):
    """TSC of the last timed record of a block that was entered at `tsc`."""
    ticks = tsc >> fmt.EP_TICK_SHIFT
    escape = None
    for word, in struct.iter_unpack("<Q", records):
        if not word & fmt.EP_ADDRESS_MASK & ~(fmt.EP_ESCAPE_LIMIT - 1):
            if word & 7 == fmt.EP_ESCAPE_TIME:
                escape = escape_payload(word)
            # A mark has its stamp where a record has it.
            if word & 7 != fmt.EP_ESCAPE_MARK:
                continue
        stamp = word >> fmt.EP_STAMP_SHIFT
        if not stamp:
            continue
        if escape is None:
            ticks += (stamp - ticks) & STAMP_MASK
        else:
            target = escape << 16 | stamp
            ticks += (target - ticks) & (1 << 42) - 1
            escape = None
    return max(tsc, ticks << fmt.EP_TICK_SHIFT)


def escape_payload(word):
    return ((word >> 48) << 10 | (word >> 47 & 1) << 9
            | (word >> 3 & 0x1ff))


class Clock:
    """TSC against MONOTONIC_RAW and REALTIME by the anchors."""

    def __init__(self, data):
        fields = unpack(fmt.CLOCK, data)
        anchors = []
        size = fmt.ANCHOR[0]
        for at in range(0, len(fields["anchors"] or b"") - size + 1, size):
            anchor = unpack(fmt.ANCHOR, fields["anchors"], at)
            check = (anchor["tsc"] ^ anchor["monotonic_raw"]
                     ^ anchor["realtime"] ^ anchor["width"] ^ fmt.EP_ANCHOR_KEY)
            if anchor["tsc"] and anchor["check"] == check:
                anchors.append(anchor)
        anchors.sort(key=lambda anchor: anchor["tsc"])
        self.anchors = anchors
        self.hz = self._rate(anchors) or fields["tsc_hz"] or 0

    @staticmethod
    def _rate(anchors):
        """Ticks a second over the longest distance there is."""
        if len(anchors) < 2:
            return 0
        first, last = anchors[0], anchors[-1]
        ns = last["monotonic_raw"] - first["monotonic_raw"]
        if ns < 1000000:  # too near: the runtime's own estimate is better
            return 0
        return (last["tsc"] - first["tsc"]) * 1e9 / ns

    def ns(self, ticks):
        """Nanoseconds of a distance; None when the rate is unknown."""
        return ticks * 1e9 / self.hz if self.hz else None

    def realtime(self, tsc):
        """ns since 1970, or None."""
        if not self.anchors or not self.hz:
            return None
        near = min(self.anchors, key=lambda anchor: abs(anchor["tsc"] - tsc))
        return near["realtime"] + self.ns(tsc - near["tsc"])

    def tsc_at(self, monotonic_raw):
        """TSC at a time of CLOCK_MONOTONIC_RAW (ns); 0 when unknown."""
        if not self.anchors or not self.hz:
            return 0
        last = self.anchors[-1]
        return int(last["tsc"]
                   + (monotonic_raw - last["monotonic_raw"]) * self.hz / 1e9)


class ThreadTrace:
    """A thread of the table, and what is left of its history."""

    def __init__(self, serial, fields=None):
        self.serial = serial
        self.fields = fields  # None: blocks of it exist, its entry does not
        self.blocks = 0  # valid ones
        self.from_start = False
        self.first_tsc = 0
        self.last_tsc = 0
        self._newest = (0, 0)  # (sequence, offset in the arena)

    def add(self, block, offset):
        self.blocks += 1
        if not self.first_tsc or block["tsc"] < self.first_tsc:
            self.first_tsc = block["tsc"]
        self.from_start |= block["sequence"] == 1
        self._newest = max(self._newest, (block["sequence"], offset))

    def finish(self, trace):
        """Finds the time of its last record."""
        if self.blocks:
            at = self._newest[1]
            block = unpack(fmt.BLOCK, trace.source.read(
                trace.address + at, fmt.EP_BLOCK_SIZE))
            # Where segments overlap, its bytes may be others' by now.
            if block["records"] is None:
                self.last_tsc = self.first_tsc
            else:
                self.last_tsc = last_time(block["tsc"], block["records"])

    @property
    def name(self):
        raw = self.fields["name"] if self.fields else b""
        return text(raw.split(b"\0")[0])


class Trace:
    """The arena taken apart. Threads come with read_threads()."""

    def __init__(self, source, found):
        self.source = source
        self.found = found
        self.address = found.arena_address
        self.identity = found.root["identity"]
        self.arena = found.arena
        self.sections = self._sections()
        self.clock = Clock(self.section(fmt.EP_SECTION_CLOCK, fmt.CLOCK[0]))
        self._process = self.section(fmt.EP_SECTION_PROCESS)
        self.process = unpack(fmt.PROCESS, self._process)
        self.threads = []
        self.torn = 0

    def _sections(self):
        """(offset, size, entry size) by type; only what lies inside."""
        found = {}
        raw = self.arena["sections"] or b""
        for at in range(0, len(raw), fmt.SECTION[0]):
            section = unpack(fmt.SECTION, raw, at)
            offset, size = section["offset"], section["size"]
            if section["type"] and offset < self.found.committed:
                found.setdefault(section["type"], (
                    offset, min(size, self.found.committed - offset),
                    section["entry_size"]))
        return found

    def section(self, kind, limit=1 << 26):
        """What can be read of a section from its start on."""
        offset, size, _ = self.sections.get(kind, (0, 0, 0))
        return self.source.read(self.address + offset, min(size, limit))

    def string(self, name):
        """A string of the process facts; "" when it is not there."""
        offset, length = self.process[name] or (0, 0)
        return text(self._process[offset:offset + length]
                    .replace(b"\0", b" ").rstrip())

    def read_threads(self):
        """Fills `threads`: the table's, then those of which only blocks are
        left."""
        by_serial = {}
        for fields in self._table():
            serial = fields["serial"]
            by_serial.setdefault(serial, ThreadTrace(serial, fields))
        for offset, block in self._blocks():
            serial = block["owner"]
            by_serial.setdefault(serial, ThreadTrace(serial))
            by_serial[serial].add(block, offset)
        for thread in by_serial.values():
            thread.finish(self)
        self.threads = [by_serial[serial] for serial in sorted(by_serial)]

    def _table(self):
        _, _, size = self.sections.get(fmt.EP_SECTION_THREADS, (0, 0, 0))
        if size < fmt.THREAD[0]:
            return
        data = self.section(fmt.EP_SECTION_THREADS)
        for at in range(0, len(data) - size + 1, size):
            fields = unpack(fmt.THREAD, data, at)
            if fields["state"] != fmt.EP_THREAD_FREE and fields["serial"]:
                yield fields

    def _blocks(self):
        """(offset from the arena's start, header) of each valid block."""
        offset, size, _ = self.sections.get(fmt.EP_SECTION_RINGS, (0, 0, 0))
        end = offset + size
        offset += -offset % fmt.EP_BLOCK_SIZE
        for piece in self.source.salvage(self.address + offset,
                                         self.address + end):
            begin = piece.address - self.address
            first = -begin % fmt.EP_BLOCK_SIZE
            last = len(piece.data) - fmt.EP_BLOCK_SIZE
            for at in range(first, last + 1, fmt.EP_BLOCK_SIZE):
                block = self._block(piece.data, at, begin + at)
                if block:
                    yield begin + at, block

    def _block(self, data, at, offset):
        """The header of a valid block, or None."""
        if not any(data[at:at + fmt.EP_BLOCK_HEADER]):
            return None
        block = unpack(fmt.BLOCK, data, at)
        if block["check"] == block_check(block, offset, self.identity):
            return block
        self.torn += 1
        return None

    def last_tsc(self):
        return max((thread.last_tsc for thread in self.threads), default=0)

    def first_tsc(self):
        return min((thread.first_tsc for thread in self.threads
                    if thread.blocks), default=0)

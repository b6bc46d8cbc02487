# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_root.py: finds the arena, without symbols, debug info or the
executable, and says which way. Every candidate is validated: magic, version,
CRC, self pointer."""

import struct
import zlib

import gdb

import epitaph_file
import epitaph_format as fmt
from epitaph_source import PAGE, PT_LOAD, PT_NOTE

FOUND_TEXT = {
    fmt.EP_FOUND_SEGMENT: "magic at the start of a segment",
    fmt.EP_FOUND_NOTE: "ELF note of a module",
    fmt.EP_FOUND_SYMBOL: "symbol epitaph_root",
    fmt.EP_FOUND_SCAN: "scan of the memory that was saved",
    fmt.EP_FOUND_SNAPSHOT: "the snapshot's own note",
    fmt.EP_FOUND_SELF: "written by the process itself",
    fmt.EP_FOUND_KEPT: "kept by the process in its memory",
    fmt.EP_FOUND_FILE: "the arena's file, that the core's root names",
}
OFF_TEXT = {
    fmt.EP_OFF_NO_MEMORY: "no arena could be mapped",
    fmt.EP_OFF_ADDRESS: "a code address needs more than 47 bits",
    fmt.EP_OFF_OTHER_RUNTIME: "another runtime in the process came first",
    fmt.EP_OFF_NO_TSC: "the program gave up reading the processor's time",
    fmt.EP_OFF_OVERWRITTEN: "the program wrote over the memory that holds the"
                            " trace",
}
HEADERS = 64  # program headers of one module that are looked at
NOTES = 64 << 10  # bytes of one PT_NOTE that are looked at


def unpack(layout, data, offset=0):
    """The fields of a layout of epitaph_format as a dictionary; one that lies
    beyond the data is None. Fields of two words come as a pair."""
    fields = {}
    for name, (form, at) in layout[1].items():
        if offset + at + struct.calcsize(form) > len(data):
            fields[name] = None
            continue
        values = struct.unpack_from(form, data, offset + at)
        fields[name] = values[0] if len(values) == 1 else values
    return fields


class Found:
    """The arena that was found."""

    def __init__(self, root, root_address, how, where):
        self.root = root  # fields: the arena's copy, or the root itself
        self.root_address = root_address  # 0: only the arena was seen
        self.arena_address = root["arena_address"]
        self.how = how
        self.where = where
        self.off_reason = 0  # EP_OFF_, by the root; 0 also when not seen
        self.arena = None  # fields of struct ep_arena; None: not readable
        self.committed = 0  # bytes that should be there


class Finder:
    """One search; keeps what it met but could not use, for the complaint."""

    def __init__(self, source):
        self.source = source
        self.version = None
        self.off = None

    def root_at(self, address):
        """The valid root or arena copy at `address`, or None."""
        data = self.source.read_exactly(address, fmt.ROOT[0])
        if data is None:
            return None
        root = unpack(fmt.ROOT, data)
        if (root["magic"] not in (fmt.EP_ROOT_MAGIC, fmt.EP_ARENA_MAGIC)
                or root["self"] != address):
            return None
        if root["major"] != fmt.EP_FORMAT_MAJOR:
            self.version = root
            return None
        if root["crc"] != zlib.crc32(data[:fmt.ROOT[1]["crc"][1]]):
            return None
        # A later minor may have made it longer.
        if (not fmt.ROOT[0] <= root["size"] <= PAGE
                or root["arch"] != fmt.EP_ARCH_X86_64
                or (root["arena_address"] | root["arena_size"]) % PAGE
                or root["arena_address"] + root["arena_size"] > 1 << 64):
            return None
        if root["magic"] == fmt.EP_ROOT_MAGIC and not root["arena_address"]:
            self.off = root
            return None
        return root

    def candidate(self, address, how, where):
        root = self.root_at(address)
        if root is None:
            return None
        if root["magic"] == fmt.EP_ARENA_MAGIC:
            return Found(root, 0, how, where)
        copy = self.root_at(root["arena_address"])
        if copy and copy["identity"] == root["identity"]:
            root = copy
        return Found(root, address, how, where)

    def by_snapshot(self):
        desc = self.source.snapshot_note()
        note = unpack(fmt.SNAPSHOT_NOTE, desc or b"")
        if note["arena_address"] is None:
            return
        found = self.candidate(note["arena_address"], fmt.EP_FOUND_SNAPSHOT,
                               "snapshot of 0x%x" % note["arena_address"])
        if found:
            found.root_address = note["root_address"]
            yield found

    def by_segment(self):
        """Of two arenas the one of this very process is meant: the other came
        with memory that it shares."""
        found = []
        for segment in self.source.segments:
            if self.source.read(segment.address, 8) == fmt.EP_ARENA_MAGIC:
                found.append(self.candidate(
                    segment.address, fmt.EP_FOUND_SEGMENT,
                    "segment at 0x%x" % segment.address))
        yield from sorted(
            (one for one in found if one),
            key=lambda one: one.root["pid"] != self.source.own_pid())

    def by_note(self):
        for segment in self.source.segments:
            if self.source.read(segment.address, 4) != b"\x7fELF":
                continue
            for address in module_roots(self.source, segment.address):
                yield self.candidate(
                    address, fmt.EP_FOUND_NOTE,
                    "note in the module at 0x%x" % segment.address)

    def by_symbol(self):
        try:
            address = int(gdb.parse_and_eval("&epitaph_root"))
        except (gdb.error, ValueError):
            return
        yield self.candidate(address & (1 << 64) - 1, fmt.EP_FOUND_SYMBOL,
                             "symbol epitaph_root")

    def by_scan(self):
        for magic in (fmt.EP_ARENA_MAGIC, fmt.EP_ROOT_MAGIC):
            for segment in self.source.segments:
                if self.source.live and not segment.flags & 2:
                    continue  # an arena is writable
                for address in self.source.find(segment, magic):
                    yield self.candidate(address, fmt.EP_FOUND_SCAN,
                                         "scan: 0x%x" % address)


def module_headers(source, start):
    """(program headers, bias) of the ELF module mapped at `start`."""
    head = source.read(start, PAGE)
    if len(head) < 64 or head[:5] != b"\x7fELF\x02":
        return [], 0
    offset, = struct.unpack_from("<Q", head, 32)
    entry_size, count = struct.unpack_from("<HH", head, 54)
    if entry_size < 56:
        return [], 0
    headers = []
    for at in range(min(count, HEADERS)):
        where = offset + at * entry_size
        if where + 56 > len(head):
            break
        headers.append(struct.unpack_from("<IIQQQQQQ", head, where))
    for kind, _, offset, address, _, _, _, _ in headers:
        if kind == PT_LOAD and offset < PAGE:
            return headers, start - (address - offset)
    return [], 0


def module_roots(source, start):
    """Addresses of roots that the notes of a module point to."""
    headers, bias = module_headers(source, start)
    for kind, _, _, address, _, size, _, alignment in headers:
        if kind != PT_NOTE:
            continue
        address = address + bias & (1 << 64) - 1
        yield from note_roots(source.read(address, min(size, NOTES)), address,
                              8 if alignment == 8 else 4)


def note_roots(data, address, alignment):
    at = 0
    while at + 12 <= len(data):
        name_size, desc_size, kind = struct.unpack_from("<III", data, at)
        name = data[at + 12:at + 12 + name_size]
        desc = at + 12 + name_size
        desc += -desc % alignment
        if (kind == fmt.EP_NOTE_ROOT and desc_size >= fmt.ROOT_NOTE[0]
                and name.rstrip(b"\0") == fmt.EP_NOTE_NAME):
            note = unpack(fmt.ROOT_NOTE, data, desc)
            if note["root_offset"] is not None:
                yield address + desc + note["root_offset"] & (1 << 64) - 1
        at = desc + desc_size
        at += -at % alignment


def find(source):
    """The arena, or gdb.GdbError that says why there is none."""
    finder = Finder(source)
    unsaved = None
    for way in (finder.by_snapshot, finder.by_segment, finder.by_note,
                finder.by_symbol, finder.by_scan):
        for found in way():
            if found is None:
                continue
            if measure(source, found) or (
                    epitaph_file.follow(finder, found)
                    and measure(source, found)):
                look_for_root(finder, found)
                look_for_end(finder, found)
                return found
            unsaved = unsaved or found
        if unsaved:  # a root is proof: a scan would find nothing more
            break
    complain(source, finder, unsaved)


def look_for_root(finder, found):
    """Where the root in the runtime's data lies: a snapshot wants its page."""
    if found.root_address:
        return
    for other in finder.by_note():
        if other and other.arena_address == found.arena_address:
            found.root_address = other.root_address
            return


def look_for_end(finder, found):
    """The arena's copy may have been made before tracing ended."""
    root = found.root_address and finder.root_at(found.root_address)
    if root:
        found.off_reason = root["off_reason"]


def measure(source, found):
    """Reads the arena's head; False when nothing of the arena is there."""
    head = source.read(found.arena_address, PAGE)
    if not head:
        return False
    # All of its fields or none: a page that is cut off tells nothing.
    found.arena = unpack(fmt.ARENA,
                         head if len(head) >= fmt.ARENA[0] else b"")
    committed = found.arena["committed"]
    segment = source.segment_at(found.arena_address)
    mapped = segment.address + segment.memory_size - found.arena_address
    if committed and committed <= found.root["arena_size"]:
        found.committed = committed
    else:  # the head makes no sense: what the segment holds
        found.committed = min(mapped, found.root["arena_size"])
    return True


def complain(source, finder, unsaved):
    if unsaved:
        address = unsaved.arena_address
        words = epitaph_file.complaint(source, unsaved)
        if words:
            raise gdb.GdbError(words)
        raise gdb.GdbError(
            "epitaph: %s: the program was traced (%s), but its arena at 0x%x is"
            " %s. A core needs private anonymous memory: coredump_filter with"
            " bit 0 set (0x33 is the default), and a `ulimit -c` that leaves"
            " room." % (source.name, FOUND_TEXT[unsaved.how], address,
                        source.why(address)))
    if finder.version:
        raise gdb.GdbError(
            "epitaph: %s: written by format %d.%d, this reads %d.x: load"
            " epitaph.py of that version" % (
                source.name, finder.version["major"], finder.version["minor"],
                fmt.EP_FORMAT_MAJOR))
    if finder.off:
        reason = finder.off["off_reason"]
        raise gdb.GdbError(
            "epitaph: %s: the runtime was there but recorded nothing: %s" % (
                source.name, OFF_TEXT.get(reason, "reason %d" % reason)))
    hint = ("Was the program linked with the runtime (epitaph-cc), and had it"
            " called a traced function yet?" if source.live else
            "Was the program built with epitaph-cc, and does the core hold"
            " private anonymous memory (coredump_filter, 0x33 by default)?")
    said = "".join(" (%s)" % warning for warning in source.warnings)
    raise gdb.GdbError("epitaph: %s: no trace in it%s. %s"
                       % (source.name, said, hint))

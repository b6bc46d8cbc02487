# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_arena.py: finds the arena. Every candidate is validated: magic, version, CRC, self
pointer. The program epitaph knows more ways: the notes of modules, a scan, the file of
EPITAPH_FILE."""

import struct
import zlib

import gdb

import epitaph_format as fmt
from epitaph_process import PAGE

MASK = (1 << 64) - 1
MAGICS = (fmt.EP_ROOT_MAGIC, fmt.EP_ARENA_MAGIC)


def unpack(layout, data, offset=0):
    """The fields of a layout of epitaph_format as a dictionary; one that lies beyond the data is
    None."""
    fields = {}
    for name, (form, at) in layout[1].items():
        inside = offset + at + struct.calcsize(form) <= len(data)
        fields[name] = struct.unpack_from(form, data, offset + at)[0] if inside else None
    return fields


def entries(layout, data, step):
    """The entries of a table of such layouts, `step` bytes apart."""
    if step < layout[0]:
        return []
    return [unpack(layout, data, at) for at in range(0, len(data) - step + 1, step)]


class Arena:
    """The arena that was found, by a valid root or by its own copy of it."""

    def __init__(self, root, root_address, how):
        self.root = root  # fields: the arena's copy, or the root itself
        self.root_address = root_address  # 0: only the arena was seen
        self.address = root["arena_address"]
        self.how = how  # EP_FOUND_
        self.size = 0  # bytes that are in use
        self.sections = []

    def measure(self, process):
        """Reads the arena's head; False when nothing of the arena is there."""
        head = process.read(self.address, PAGE)
        if not head:
            return False
        # All of its fields or none: of a page that is cut off nothing is believed.
        fields = unpack(fmt.ARENA, head if len(head) >= fmt.ARENA[0] else b"")
        self.sections = entries(fmt.SECTION, fields["sections"] or b"", fmt.SECTION[0])
        self.size = fields["committed"] or 0
        if not 0 < self.size <= self.root["arena_size"]:
            # The head makes no sense: what the segment holds.
            segment = process.segment_at(self.address)
            self.size = min(segment.address + segment.memory - self.address,
                            self.root["arena_size"])
        return True

    def section(self, kind):
        """Its fields, or None."""
        return next((s for s in self.sections if s["type"] == kind), None)


class Finder:
    """One search; keeps what it met but could not use, for the complaint."""

    def __init__(self, process):
        self.process = process
        self.version = None
        self.is_off = False

    def root_at(self, address):
        """The valid root or arena copy at `address`, or None."""
        data = self.process.read_exactly(address, fmt.ROOT[0])
        root = unpack(fmt.ROOT, data or b"")
        if root["magic"] not in MAGICS or root["self"] != address:
            return None
        if root["major"] != fmt.EP_FORMAT_MAJOR:
            self.version = root
            return None
        # A later minor may have made it longer.
        if (root["crc"] != zlib.crc32(data[:fmt.ROOT[1]["crc"][1]])
                or not fmt.ROOT[0] <= root["size"] <= PAGE or root["arch"] != fmt.EP_ARCH_X86_64
                or (root["arena_address"] | root["arena_size"]) % PAGE
                or root["arena_address"] + root["arena_size"] > 1 << 64):
            return None
        if root["magic"] == fmt.EP_ROOT_MAGIC and not root["arena_address"]:
            self.is_off = True
            return None
        return root

    def candidates(self, address, how):
        root = self.root_at(address)
        if root and root["magic"] == fmt.EP_ARENA_MAGIC:
            yield Arena(root, 0, how)
        elif root:
            copy = self.root_at(root["arena_address"])
            is_same = copy and copy["identity"] == root["identity"]
            yield Arena(copy if is_same else root, address, how)

    def by_segment(self):
        """Of two arenas the one of this very process is meant: the other came with memory that it
        shares."""
        found = [arena for segment in self.process.segments
                 if self.process.read(segment.address, 8) == fmt.EP_ARENA_MAGIC
                 for arena in self.candidates(segment.address, fmt.EP_FOUND_SEGMENT)]
        return sorted(found, key=lambda arena: arena.root["pid"] != self.process.own_pid)

    def by_symbol(self):
        try:
            address = int(gdb.parse_and_eval("&epitaph_root"))
        except (gdb.error, ValueError):
            return
        yield from self.candidates(address & MASK, fmt.EP_FOUND_SYMBOL)


def find(process):
    """The arena, or gdb.GdbError that says why there is none."""
    finder = Finder(process)
    unsaved = None
    roots = {arena.address: arena.root_address for arena in finder.by_symbol()}
    for arena in [*finder.by_segment(), *finder.by_symbol()]:
        if arena.measure(process):
            arena.root_address = roots.get(arena.address, 0)
            return arena
        unsaved = unsaved or arena
    raise gdb.GdbError("epitaph: %s: %s" % (process.name, complaint(process, finder, unsaved)))


def complaint(process, finder, unsaved):
    if unsaved and unsaved.root["file_inode"]:
        return ("the program was traced, and its trace lies in the file of EPITAPH_FILE, which a"
                " core does not hold: `epitaph extract CORE`, where it crashed, makes a snapshot")
    if unsaved:
        return ("the program was traced, but its arena at 0x%x is %s. A core needs private"
                " anonymous memory: coredump_filter with bit 0 set (0x33 is the default), and a"
                " `ulimit -c` that leaves room." % (unsaved.address, process.why(unsaved.address)))
    if finder.version:
        return "written by format %d.%d, this reads %d.x: load epitaph.py of that version" % (
            finder.version["major"], finder.version["minor"], fmt.EP_FORMAT_MAJOR)
    if finder.is_off:
        return "the runtime was there but recorded nothing: `epitaph info CORE` says why"
    return "no trace in it%s. %s" % ("".join(" (%s)" % warning for warning in process.warnings), (
        "Was the program linked with the runtime (epitaph-cc), and had it called a traced function"
        " yet?" if process.live else
        "Was the program built with epitaph-cc, and does the core hold private anonymous memory"
        " (coredump_filter, 0x33 by default)? `epitaph report CORE` knows more ways to find one."))

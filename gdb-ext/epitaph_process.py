# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_process.py: the process that gdb looks at: its memory, and what an ELF core's notes say
of it, whether it is dead (a core file) or alive (epitaph_live.py makes the notes).

Memory is read from the core's file, never through gdb: for memory that a core does not hold gdb
hands back zeroes without an error. What read() returns is there."""

import bisect
import collections
import os
import struct

import gdb

import epitaph_format as fmt

PAGE = 4096
PT_LOAD, PT_NOTE = 1, 4
NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_FILE, NT_SIGINFO = 1, 3, 6, 0x46494C45, 0x53494749

# struct elf_prstatus of x86-64 (<sys/procfs.h>): where its fields lie.
PRSTATUS_SIZE, PRSTATUS_TID, PRSTATUS_REGISTERS = 336, 32, 112
# struct user_regs_struct (<sys/user.h>), in gdb's words.
REGISTERS = ("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp"
             " ss fs_base gs_base ds es fs gs").split()

# A piece of the address space, in bytes: what was mapped, what the headers say was saved, what of
# that the file holds from `offset` on. Flags: PF_R PF_W PF_X.
Segment = collections.namedtuple("Segment", "address memory saved present offset flags")
# Bytes of the process, where they lie, and the flags of their segment.
Piece = collections.namedtuple("Piece", "address data flags")
# sp None: its registers are not known.
Thread = collections.namedtuple("Thread", "tid sp")


class Note:
    """An ELF note."""

    def __init__(self, name, kind, desc):
        self.name = name
        self.kind = kind
        self.desc = desc

    def is_snapshot(self):
        return (self.name == fmt.EP_NOTE_NAME
                and self.kind in (fmt.EP_NOTE_SNAPSHOT, fmt.EP_NOTE_SNAPSHOT_1_5))

    def raw(self):
        """All of it, padding included."""
        name = self.name + b"\0" if self.name else b""
        return (struct.pack("<III", len(name), len(self.desc), self.kind)
                + padded(name) + padded(self.desc))


def padded(data):
    return data + bytes(-len(data) % 4)


def read_file(fd, offset, size):
    """The bytes of a file that can be read, from `offset` on."""
    parts = []
    while size:
        try:
            part = os.pread(fd, size, offset)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
        offset += len(part)
        size -= len(part)
    return b"".join(parts)


class Process:
    """Segments ascend and are disjoint, but for a core that somebody made up."""

    def __init__(self, name, file, segments, notes, warnings=()):
        self.name = name
        self.live = False
        self.file = file
        self.segments = sorted(segments, key=lambda s: s.address)
        self._starts = [s.address for s in self.segments]
        self.notes = notes
        self.warnings = warnings
        self.threads = self._threads()
        psinfo = self._note(NT_PRPSINFO, 28)
        self.own_pid = (struct.unpack_from("<I", psinfo, 24)[0] if psinfo else
                        self.threads[0].tid if self.threads else 0)
        self.pid = self.own_pid  # as others see it

    # ---- memory ----

    def segment_at(self, address):
        at = bisect.bisect_right(self._starts, address) - 1
        if at >= 0 and address - self.segments[at].address < self.segments[at].memory:
            return self.segments[at]
        return None

    def segments_from(self, start, end=1 << 64):
        """Those that have something of [start, end), ascending; perhaps one more before them."""
        low = max(0, bisect.bisect_right(self._starts, start) - 1)
        for at in range(low, bisect.bisect_left(self._starts, end)):
            yield self.segments[at]

    def pieces(self, start, end):
        """What can be read of [start, end), as ascending pieces, one a segment at least. A page
        that cannot be read ends a piece."""
        for segment in self.segments_from(start, end):
            low = max(start, segment.address)
            high = min(end, segment.address + segment.present)
            while low < high:
                data = read_file(self.file.fileno(), segment.offset + low - segment.address,
                                 high - low)
                if data:
                    yield Piece(low, data, segment.flags)
                low += len(data)
                if low < high:
                    low += PAGE - low % PAGE

    def read(self, address, size):
        """The bytes from `address` on that can be read, at most `size`; across segments that
        follow each other."""
        parts, end = [], address + size
        for piece in self.pieces(address, end):
            if piece.address != address:
                break
            parts.append(piece.data)
            address += len(piece.data)
        return b"".join(parts)

    def read_exactly(self, address, size):
        """`size` bytes, or None."""
        data = self.read(address, size)
        return data if len(data) == size else None

    def why(self, address):
        """Why the byte at `address` cannot be read."""
        segment = self.segment_at(address)
        if segment is None:
            return "not mapped in the process"
        if address - segment.address < segment.saved:
            return "cut off: the core is truncated"
        return "mapped, but not saved in the core"

    # ---- notes ----

    def _note(self, kind, size):
        """The first note of this kind and at least `size` bytes; else none of them."""
        return next((n.desc for n in self.notes if n.kind == kind and n.name == b"CORE"
                     and len(n.desc) >= size), b"")

    def is_snapshot(self):
        return any(note.is_snapshot() for note in self.notes)

    def auxv(self, kind):
        """Value of an auxv entry, or None."""
        data = self._note(NT_AUXV, 16)
        for key, value in struct.iter_unpack("<QQ", data[:len(data) // 16 * 16]):
            if key == kind:
                return value
            if key == 0:
                break
        return None

    def _threads(self):
        found = []
        for note in self.notes:
            if (note.kind == NT_PRSTATUS and note.name == b"CORE"
                    and len(note.desc) >= PRSTATUS_SIZE):
                tid, = struct.unpack_from("<I", note.desc, PRSTATUS_TID)
                registers = dict(zip(REGISTERS, struct.unpack_from(
                    "<%dQ" % len(REGISTERS), note.desc, PRSTATUS_REGISTERS)))
                # A snapshot of a process that was not stopped has zeroes there.
                known = registers["rsp"] or registers["rip"]
                found.append(Thread(tid, registers["rsp"] if known else None))
        return found


# ---- a core --------------------------------------------------------------------------------------


class CoreFile:
    """A core file taken apart, by its own headers."""

    def __init__(self, path):
        self.path = path
        try:
            self.file = open(path, "rb")
        except OSError as error:
            raise gdb.GdbError(
                "epitaph: %s: cannot read the core again (%s). If it was moved, open it where it is"
                " now with `core-file`." % (path, error.strerror))
        self.size = os.fstat(self.file.fileno()).st_size
        self.segments = []
        self.notes = []
        self.warnings = []
        for header in self._headers():
            self._read_header(*header)
        cut = sum(s.present < s.saved for s in self.segments)
        if cut:
            self.warnings.append("core truncated: %d of %d segments are not all there"
                                 % (cut, len(self.segments)))

    def read(self, offset, size):
        """What the file has of these bytes."""
        size = max(0, min(size, self.size - offset))
        return read_file(self.file.fileno(), offset, size) if size else b""

    def refuse(self, words):
        raise gdb.GdbError("epitaph: %s: %s" % (self.path, words))

    def _headers(self):
        head = self.read(0, 64)
        if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
            self.refuse("not a 64-bit little-endian ELF core")
        if struct.unpack_from("<HH", head, 16) != (4, 62):
            self.refuse("not a core of an x86-64 process")
        offset, section_offset = struct.unpack_from("<QQ", head, 32)
        entry_size, count = struct.unpack_from("<HH", head, 54)
        if count == 0xffff:  # PN_XNUM: the number is in section 0's sh_info
            section = self.read(section_offset, 64)
            if len(section) < 64:
                self.refuse("cut off before the number of its segments")
            count, = struct.unpack_from("<I", section, 44)
        if entry_size < 56:
            self.refuse("program headers of %d bytes make no sense" % entry_size)
        table = self.read(offset, count * entry_size)
        there = len(table) // entry_size
        if there < count:
            self.warnings.append("cut off: %d of %d segments are described" % (there, count))
        return [struct.unpack_from("<IIQQQQQQ", table, at * entry_size) for at in range(there)]

    def _read_header(self, kind, flags, offset, address, _, saved, memory, __):
        present = max(0, min(saved, self.size - offset))
        if kind == PT_NOTE:
            self._read_notes(self.read(offset, present))
        elif kind == PT_LOAD:
            memory = max(memory, saved)
            if memory and address + memory <= 1 << 64:
                self.segments.append(Segment(address, memory, saved, present, offset, flags))

    def _read_notes(self, data):
        at = 0
        while at + 12 <= len(data):
            name_size, desc_size, kind = struct.unpack_from("<III", data, at)
            desc = at + 12 + name_size + -name_size % 4
            after = desc + desc_size
            if after > len(data):
                self.warnings.append("cut off inside its notes")
                break
            name = data[at + 12:at + 12 + name_size].rstrip(b"\0")
            self.notes.append(Note(name, kind, data[desc:after]))
            at = after + -desc_size % 4


def open_core(path):
    core = CoreFile(path)
    return Process(path, core.file, core.segments, core.notes, core.warnings)

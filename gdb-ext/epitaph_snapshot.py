# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_snapshot.py: writes the snapshot, a small ELF core: all notes, one of
ours, the arena, the tops of the stacks, and the pages that a debugger needs to
find modules. As coredump/extract.c does. Appears whole or not at all."""

import os
import socket
import stat
import struct
import tempfile
import time

import gdb

import epitaph_format as fmt
from epitaph_source import (AT_PHDR, AT_PHENT, AT_PHNUM, AT_SYSINFO_EHDR, PAGE,
                            PT_LOAD, PT_NOTE, Note)
from epitaph_trace import Trace

DEFAULT_NAME = "epitaph.%p.%n.core"
RED_ZONE = 256  # below the stack pointer: the psABI's 128 bytes and then some
STACK_BYTES = 64 << 10  # of each thread
STACKS_BYTES = 64 << 20  # of all threads
PT_DYNAMIC, DT_NULL, DT_DEBUG = 2, 0, 21
LINK_MAPS = 65536  # more than a process has: a list may be a loop


class Wanted:
    """Address ranges that should be saved, by the reason why."""

    def __init__(self, source):
        self.source = source
        self.ranges = []
        self.pages_wanted = 0
        self.pages_saved = 0
        self.threads = []  # (tid, sp, wanted, saved)

    def add(self, start, end):
        self.ranges.append((start, end))

    def add_page(self, address):
        page = address - address % PAGE
        if (page, page + PAGE) in self.ranges:
            return
        self.pages_wanted += 1
        if self.source.read(page, PAGE):
            self.pages_saved += 1
            self.add(page, page + PAGE)

    def add_bytes(self, address, size):
        for page in range(address - address % PAGE, address + size, PAGE):
            self.add_page(page)

    def pieces(self):
        """The ranges' bytes, each once, ascending."""
        merged = []
        for start, end in sorted(self.ranges):
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([start, end])
        return [piece for start, end in merged
                for piece in self.source.salvage(start, end)]


def add_stacks(wanted, source):
    total = 0
    for thread in source.threads:
        segment = source.segment_at(thread.sp)
        if segment is None:
            wanted.threads.append((thread.tid, thread.sp, STACK_BYTES, 0))
            continue
        start = max(segment.address, thread.sp - RED_ZONE)
        start -= start % PAGE
        end = min(segment.address + segment.memory_size,
                  thread.sp - RED_ZONE + STACK_BYTES)
        end += -end % PAGE
        size = end - thread.sp
        saved = 0
        if total + end - start <= STACKS_BYTES:
            total += end - start
            saved = max(0, len(source.read(start, end - start))
                        - (thread.sp - start))
            wanted.add(start, end)
        wanted.threads.append((thread.tid, thread.sp, size, saved))


def add_modules(wanted, source):
    """The first page of each ELF mapping."""
    for segment in source.segments:
        if segment.flags & 4 and source.read(
                segment.address, 4) == b"\x7fELF":
            wanted.add_page(segment.address)


def add_vdso(wanted, source):
    """All of it (two pages): no file of it exists that a debugger could read."""
    segment = source.segment_at(source.auxv(AT_SYSINFO_EHDR) or 0)
    if segment and segment.memory_size <= 16 * PAGE:
        wanted.add_bytes(segment.address, segment.memory_size)


def add_link_maps(wanted, source):
    """The executable's program headers and .dynamic, r_debug, and every
    link_map with its name: by these a debugger finds the libraries."""
    headers = source.auxv(AT_PHDR)
    size, count = source.auxv(AT_PHENT), source.auxv(AT_PHNUM)
    if not headers or size != 56 or not count or count > 1024:
        return
    wanted.add_bytes(headers, size * count)
    table = source.read(headers, size * count)
    bias, dynamic = None, None
    for at in range(0, len(table) - size + 1, size):
        kind, _, _, address, _, _, length, _ = struct.unpack_from(
            "<IIQQQQQQ", table, at)
        if kind == 6:  # PT_PHDR
            bias = headers - address
        elif kind == PT_DYNAMIC:
            dynamic = (address, length)
    if dynamic is None:
        return
    start = dynamic[0] + (bias or 0) & (1 << 64) - 1
    wanted.add_bytes(start, min(dynamic[1], 16 * PAGE))
    debug = find_debug(source.read(start, min(dynamic[1], 16 * PAGE)))
    if debug:
        wanted.add_bytes(debug, 40)
        add_chain(wanted, source, source.read_exactly(debug + 8, 8))


def find_debug(dynamic):
    for at in range(0, len(dynamic) - 15, 16):
        tag, value = struct.unpack_from("<QQ", dynamic, at)
        if tag == DT_DEBUG:
            return value
        if tag == DT_NULL:
            break
    return 0


def add_chain(wanted, source, head):
    node = struct.unpack("<Q", head)[0] if head else 0
    for _ in range(LINK_MAPS):
        if not node:
            break
        wanted.add_bytes(node, 40)
        data = source.read_exactly(node, 40)
        if data is None:
            break
        _, name, dynamic, node, _ = struct.unpack("<QQQQQ", data)
        text = source.read_string(name) if name else None
        if name:
            wanted.add_bytes(name, len(text) if text else 1)
        if dynamic:
            wanted.add_page(dynamic)


# ---- the file --------------------------------------------------------------


class Result:
    """What was saved, in bytes and counts."""

    def __init__(self, path, size, arena_wanted, arena_saved, wanted):
        self.path = path
        self.size = size
        self.arena_wanted = arena_wanted
        self.arena_saved = arena_saved
        self.threads = wanted.threads
        self.pages_wanted = wanted.pages_wanted
        self.pages_saved = wanted.pages_saved


def pack(layout, fields, size=None):
    data = bytearray(size or layout[0])
    for name, value in fields.items():
        form, at = layout[1][name]
        struct.pack_into(form, data, at, value)
    return bytes(data)


def our_note(found, arena_saved, wanted, now):
    data = pack(fmt.SNAPSHOT_NOTE, {
        "major": fmt.EP_FORMAT_MAJOR, "minor": fmt.EP_FORMAT_MINOR,
        "size": fmt.SNAPSHOT_NOTE[0], "arena_address": found.arena_address,
        "arena_size": found.committed, "arena_saved": arena_saved,
        "root_address": found.root_address,
        "pages_wanted": wanted.pages_wanted,
        "pages_saved": wanted.pages_saved, "taken_tsc": now,
        "found": found.how, "thread_count": len(wanted.threads)})
    for tid, sp, size, saved in wanted.threads:
        data += pack(fmt.SNAPSHOT_THREAD, {
            "tid": tid, "stack_pointer": sp, "stack_wanted": size,
            "stack_saved": saved})
    return Note(fmt.EP_NOTE_NAME, fmt.EP_NOTE_SNAPSHOT, data)


def elf_header(count):
    """ELF header of a core with `count` program headers; and, where 16 bits do
    not hold the number, a section header that does (PN_XNUM)."""
    extended = count >= 0xffff
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 64 + 56 * count if extended else 0,
        0, 64, 56, 0xffff if extended else count, 64 if extended else 0,
        1 if extended else 0, 0)
    section = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 1, 0, count, 0, 0)
    return header, section if extended else b""


def file_parts(notes, pieces):
    """The whole file as a list of byte strings."""
    header, section = elf_header(1 + len(pieces))
    offset = len(header) + 56 * (1 + len(pieces)) + len(section)
    parts = [header, struct.pack("<IIQQQQQQ", PT_NOTE, 4, offset, 0, 0,
                                 len(notes), 0, 4)]
    offset += len(notes)
    gap = -offset % PAGE
    tail = [section, notes, bytes(gap)]
    offset += gap
    for piece in pieces:
        size = len(piece.data)
        gap = (piece.address - offset) % PAGE
        offset += gap
        parts.append(struct.pack(
            "<IIQQQQQQ", PT_LOAD, piece.flags, offset, piece.address, 0, size,
            size, PAGE))
        tail += [bytes(gap), piece.data]
        offset += size
    return parts + tail


def save(source, found, path, force):
    """Writes the snapshot to `path`; a Result, or gdb.GdbError."""
    path = target(source, path, force)
    wanted = Wanted(source)
    start, end = found.arena_address, found.arena_address + found.committed
    wanted.add(start, end)
    if found.root_address:
        wanted.add_page(found.root_address)
    add_modules(wanted, source)
    add_vdso(wanted, source)
    add_link_maps(wanted, source)
    add_stacks(wanted, source)
    pieces = wanted.pieces()
    arena_saved = sum(overlap(piece, start, end) for piece in pieces)
    notes = [note for note in source.notes
             if (note.name, note.kind) != (fmt.EP_NOTE_NAME,
                                           fmt.EP_NOTE_SNAPSHOT)]
    notes.append(our_note(found, arena_saved, wanted, tsc_now(source, found)))
    parts = file_parts(b"".join(note.raw() for note in notes),
                       pieces)
    write_aside(path, parts, force)
    return Result(path, sum(map(len, parts)), found.committed, arena_saved,
                  wanted)


def overlap(piece, start, end):
    return max(0, min(end, piece.address + len(piece.data))
               - max(start, piece.address))


def tsc_now(source, found):
    """The TSC of this moment by the trace's own clock; 0 for a core, or when
    the clock cannot tell."""
    if not source.live:
        return 0
    clock = Trace(source, found).clock
    return clock.tsc_at(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))


def target(source, path, force):
    """The path to write to, before any work is done for it."""
    path = expand(os.path.expanduser(path or DEFAULT_NAME), source)
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return path
    if not stat.S_ISREG(mode):
        raise gdb.GdbError("epitaph: %s: not a regular file" % path)
    if not source.live and os.path.samefile(path, source.name):
        raise gdb.GdbError("epitaph: %s: this is the core itself; choose"
                           " another name" % path)
    if not force:
        raise gdb.GdbError("epitaph: %s exists: `epitaph save -f FILE` writes"
                           " over it" % path)
    return path


def write_aside(path, parts, force):
    aside = None
    try:
        try:
            file, aside = tempfile.mkstemp(
                prefix=".epitaph.", dir=os.path.dirname(path) or ".")
            with os.fdopen(file, "wb") as out:
                for part in parts:
                    out.write(part)
            if force:
                os.rename(aside, path)
            else:
                os.link(aside, path)
                os.unlink(aside)
            aside = None
        except FileExistsError:
            raise gdb.GdbError("epitaph: %s exists: `epitaph save -f FILE`"
                               " writes over it" % path)
        except OSError as error:
            raise gdb.GdbError("epitaph: %s: cannot be written: %s"
                               % (path, error.strerror))
    finally:  # Ctrl-C too
        if aside:
            os.unlink(aside)


def expand(pattern, source):
    """A file name from a pattern: %p pid, %e executable, %h host, %t time, %n
    the smallest number that makes it new, %% itself."""
    facts = {"p": str(source.pid), "e": source.executable().replace("/", "!"),
             "h": socket.gethostname(), "t": str(int(time.time())), "%": "%"}
    parts, number, at = [], False, 0
    while at < len(pattern):
        letter = pattern[at + 1:at + 2] if pattern[at] == "%" else ""
        if letter == "n":
            parts.append(None)
            number = True
        elif letter in facts and letter:
            parts.append(facts[letter])
        elif letter or pattern[at] == "%":
            raise gdb.GdbError(
                "epitaph: %s: %%%s is no pattern; there are %%p %%e %%h %%t %%n,"
                " and %%%% for a percent sign" % (pattern, letter))
        else:
            parts.append(pattern[at])
        at += 2 if letter else 1
    for count in range(1, 1 << 20):
        name = "".join(str(count) if p is None else p for p in parts)
        if not number or not os.path.lexists(name):
            return name
    raise gdb.GdbError("epitaph: %s: all names are taken" % pattern)

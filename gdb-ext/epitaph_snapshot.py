# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_snapshot.py: writes the snapshot, a small ELF core: all notes, one of
ours, and the pages of epitaph_wishes.py. Of a core it is the very file that
`epitaph extract` writes. It appears whole or not at all."""

import bisect
import os
import socket
import stat
import struct
import tempfile
import time

import gdb

import epitaph_format as fmt
from epitaph_root import unpack
from epitaph_source import PAGE, PT_LOAD, PT_NOTE, Note
from epitaph_trace import Trace
from epitaph_wishes import Wishes, joined

DEFAULT_NAME = "epitaph.%p.%n.core"


class Before:
    """What an earlier snapshot's note says, if the source is a snapshot."""

    def __init__(self, source):
        data = source.snapshot_note()
        note = unpack(fmt.SNAPSHOT_NOTE, data or b"")
        self.found = note["found"]
        self.taken_tsc = note["taken_tsc"] or 0
        self.redacted = note["redacted"] or 0
        self.threads = []
        if note["thread_count"] is None:
            return
        size = fmt.SNAPSHOT_THREAD[0]
        for at in range(note["size"], len(data) - size + 1, size):
            if len(self.threads) < note["thread_count"]:
                self.threads.append(unpack(fmt.SNAPSHOT_THREAD, data, at))

    def wanted(self):
        return {thread["tid"]: thread["stack_wanted"]
                for thread in reversed(self.threads)}


def pieces_of(source, ranges):
    """What there is of the ranges; what follows another becomes one piece."""
    pieces = []
    for start, end in ranges:
        for piece in source.salvage(start, end):
            last = pieces[-1] if pieces else None
            if (last and last.flags == piece.flags
                    and last.address + len(last.data) == piece.address):
                last.data += piece.data
            else:
                pieces.append(piece)
    return pieces


def within(pieces, starts, start, end):
    """Bytes of the pieces, which ascend from `starts`, that lie in [start,
    end)."""
    low = max(0, bisect.bisect_right(starts, start) - 1)
    high = bisect.bisect_left(starts, end)
    return sum(max(0, min(end, piece.address + len(piece.data))
                   - max(start, piece.address)) for piece in pieces[low:high])


# ---- the file --------------------------------------------------------------


class Result:
    """What was saved, in bytes and counts."""

    def __init__(self, path, size, arena_wanted, arena_saved, threads):
        self.path = path
        self.size = size
        self.arena_wanted = arena_wanted
        self.arena_saved = arena_saved
        self.threads = threads


def pack(layout, fields, size=None):
    data = bytearray(size or layout[0])
    for name, value in fields.items():
        form, at = layout[1][name]
        struct.pack_into(form, data, at, value)
    return bytes(data)


def our_note(source, found, wishes, before, pieces):
    starts = [piece.address for piece in pieces]
    saved = within(pieces, starts, found.arena_address,
                   found.arena_address + found.committed)
    data = pack(fmt.SNAPSHOT_NOTE, {
        "major": fmt.EP_FORMAT_MAJOR, "minor": fmt.EP_FORMAT_MINOR,
        "size": fmt.SNAPSHOT_NOTE[0], "arena_address": found.arena_address,
        "arena_size": found.committed, "arena_saved": saved,
        "root_address": found.root_address,
        "pages_wanted": len(wishes.modules),
        "pages_saved": sum(within(pieces, starts, page, page + PAGE)
                           for page in wishes.modules) // PAGE,
        "taken_tsc": tsc_now(source, found) or before.taken_tsc,
        "found": before.found or found.how,
        "thread_count": len(wishes.threads),
        "redacted": before.redacted})
    for thread in wishes.threads:
        data += pack(fmt.SNAPSHOT_THREAD, {
            "tid": thread.tid, "stack_pointer": thread.sp,
            "stack_wanted": thread.wanted, "stack_saved": thread.saved})
    return Note(fmt.EP_NOTE_NAME, fmt.EP_NOTE_SNAPSHOT, data), saved


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
    parts = [header, struct.pack("<IIQQQQQQ", PT_NOTE, 0, offset, 0, 0,
                                 len(notes), 0, 4)]
    offset += len(notes)
    tail = [section, notes]
    for piece in pieces:
        size = len(piece.data)
        gap = (piece.address - offset) % PAGE
        offset += gap
        parts.append(struct.pack(
            "<IIQQQQQQ", PT_LOAD, piece.flags & 7, offset, piece.address, 0,
            size, size, PAGE))
        tail += [bytes(gap), piece.data]
        offset += size
    return parts + tail


def save(source, found, path):
    """Writes the snapshot to `path`; a Result, or gdb.GdbError."""
    replace = bool(path)
    path = target(source, path)
    before = Before(source)
    wishes = Wishes(source, found, before.wanted())
    pieces = pieces_of(source, joined(wishes.all))
    notes = [note for note in source.notes if
             not note.is_snapshot()]
    own, saved = our_note(source, found, wishes, before, pieces)
    if not saved:
        raise gdb.GdbError("epitaph: %s: nothing of the arena at 0x%x can be"
                           " read" % (source.name, found.arena_address))
    notes.append(own)
    parts = file_parts(b"".join(note.raw() for note in notes), pieces)
    write_aside(path, parts, replace)
    return Result(path, sum(map(len, parts)), found.committed, saved,
                  wishes.threads)


def tsc_now(source, found):
    """The TSC of this moment by the trace's own clock; 0 for a core, or when
    the clock cannot tell."""
    if not source.live:
        return 0
    clock = Trace(source, found).clock
    return clock.tsc_at(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))


def target(source, path):
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
    return path


def write_aside(path, parts, replace):
    aside = None
    try:
        try:
            file, aside = tempfile.mkstemp(
                prefix=".epitaph.", dir=os.path.dirname(path) or ".")
            with os.fdopen(file, "wb") as out:
                for part in parts:
                    out.write(part)
            if replace:
                os.rename(aside, path)
            else:
                os.link(aside, path)
                os.unlink(aside)
            aside = None
        except FileExistsError:
            raise gdb.GdbError("epitaph: %s: exists already" % path)
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

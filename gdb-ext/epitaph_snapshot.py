# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_snapshot.py: writes the snapshot, a small ELF core: all notes, one of ours, and the pages
of epitaph_ranges.py. It appears whole or not at all."""

import itertools
import os
import stat
import struct
import tempfile
import time

import gdb

import epitaph_format as fmt
from epitaph_arena import entries, find
from epitaph_process import PAGE, PT_LOAD, PT_NOTE, Note
from epitaph_ranges import Ranges
from epitaph_switches import off_text


def size_text(size):
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            break
        size /= 1024
    else:
        unit = "GiB"
    return ("%d %s" if size == int(size) else "%.1f %s") % (size, unit)


# ---- its contents --------------------------------------------------------------------------------


def bytes_within(pieces, start, end):
    return sum(max(0, min(end, piece.address + len(piece.data)) - max(start, piece.address))
               for piece in pieces)


def tsc_now(process, arena):
    """The TSC of this moment by the last anchor of the trace's own clock; 0 for a core, or when
    the clock cannot say."""
    section = arena.section(fmt.EP_SECTION_CLOCK)
    if not process.live or not section:
        return 0
    clock = entries(fmt.CLOCK, process.read(arena.address + section["offset"], fmt.CLOCK[0]),
                    fmt.CLOCK[0])
    anchors = entries(fmt.ANCHOR, clock[0]["anchors"], fmt.ANCHOR[0]) if clock else []
    last = max(anchors, key=lambda anchor: anchor["tsc"], default=None)
    if not last or not last["tsc"] or not clock[0]["tsc_hz"]:
        return 0
    ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - last["monotonic_raw"]
    return last["tsc"] + max(0, ns) * clock[0]["tsc_hz"] // 10**9 & (1 << 64) - 1


FILE_TIME_TICK = 10**7  # ns: a file's time may be one tick of the kernel's clock old (at 100 Hz)


def written(process):
    """When the core's file was written, at the latest, in ns since 1970; 0 for a live process."""
    if process.live:
        return 0
    time = os.fstat(process.file.fileno()).st_mtime_ns
    return time + FILE_TIME_TICK if time >= 10**9 else 0 # 1970: of an archive without times


def pack(layout, **fields):
    data = bytearray(layout[0])
    for name, value in fields.items():
        form, at = layout[1][name]
        struct.pack_into(form, data, at, value)
    return bytes(data)


def own_note(process, arena, ranges, pieces, arena_saved):
    pages_saved = ranges.module_pages.intersection(
        page for piece in pieces
        for page in range(piece.address, piece.address + len(piece.data) - PAGE + 1, PAGE))
    return Note(fmt.EP_NOTE_NAME, fmt.EP_NOTE_SNAPSHOT, pack(
        fmt.SNAPSHOT_NOTE, major=fmt.EP_FORMAT_MAJOR, minor=fmt.EP_FORMAT_MINOR,
        size=fmt.SNAPSHOT_NOTE[0], arena_address=arena.address, arena_size=arena.size,
        arena_saved=arena_saved, root_address=arena.root_address,
        pages_wanted=len(ranges.module_pages), pages_saved=len(pages_saved),
        taken_tsc=tsc_now(process, arena), found=arena.how, thread_count=len(ranges.stacks),
        written=written(process),
    ) + b"".join(pack(fmt.SNAPSHOT_THREAD, tid=stack.tid, stack_pointer=stack.sp,
                      stack_wanted=stack.wanted, stack_saved=stack.saved)
                 for stack in ranges.stacks))


def elf_header(count):
    """ELF header of a core with `count` program headers; and, where 16 bits do not hold the number,
    a section header that does (PN_XNUM)."""
    extended = count >= 0xffff
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 64 + 56 * count if extended else 0, 0, 64, 56,
        0xffff if extended else count, 64 if extended else 0, 1 if extended else 0, 0)
    section = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 1, 0, count, 0, 0)
    return header, section if extended else b""


def file_parts(notes, pieces):
    """The whole file as a list of byte strings."""
    header, section = elf_header(1 + len(pieces))
    offset = len(header) + 56 * (1 + len(pieces)) + len(section)
    parts = [header, struct.pack("<IIQQQQQQ", PT_NOTE, 0, offset, 0, 0, len(notes), 0, 4)]
    offset += len(notes)
    tail = [section, notes]
    for piece in pieces:
        size = len(piece.data)
        gap = (piece.address - offset) % PAGE
        offset += gap
        parts.append(struct.pack("<IIQQQQQQ", PT_LOAD, piece.flags & 7, offset, piece.address, 0,
                                 size, size, PAGE))
        tail += [bytes(gap), piece.data]
        offset += size
    return parts + tail


# ---- the file ------------------------------------------------------------------------------------


def save(process, path):
    """Writes the snapshot to `path`, None: to a new file; what it did, in words."""
    names = iter([os.path.expanduser(path)]) if path else default_names(process)
    if path:
        refuse_target(process, os.path.expanduser(path))
    if process.is_snapshot():
        process.file.seek(0)
        parts, words = [process.file.read()], "a copy, as %s is a snapshot" % process.name
    else:
        parts, words = contents(process)
    path = write(names, parts, bool(path))
    return "%s: %s, %s" % (path, size_text(sum(map(len, parts))), words)


def contents(process):
    """The snapshot's bytes, and how complete they are, in words."""
    arena = find(process)
    ranges = Ranges(process, arena)
    pieces = [piece for start, end in ranges.joined() for piece in process.pieces(start, end)]
    saved = bytes_within(pieces, arena.address, arena.address + arena.size)
    if not saved:
        raise gdb.GdbError("epitaph: %s: nothing of the arena at 0x%x can be read"
                           % (process.name, arena.address))
    notes = process.notes + [own_note(process, arena, ranges, pieces, saved)]
    whole = sum(stack.saved >= stack.wanted for stack in ranges.stacks)
    return file_parts(b"".join(note.raw() for note in notes), pieces), "".join((
        "arena ", "whole" if saved == arena.size else
        "%s of %s" % (size_text(saved), size_text(arena.size)),
        ", %d of %d stack%s" % (whole, len(ranges.stacks), "s"[:len(ranges.stacks) != 1]),
        off_text(process, arena),
        "".join("; " + warning for warning in process.warnings)))


def default_names(process):
    return ("epitaph.%d.%d.core" % (process.pid, number) for number in itertools.count(1))


def refuse_target(process, path):
    """Before any work is done for it."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise gdb.GdbError("epitaph: %s: not a regular file" % path)
    if not process.live and os.path.samefile(path, process.name):
        raise gdb.GdbError("epitaph: %s: this is the core itself; choose another name" % path)


def write(names, parts, replace):
    """Under the first of the names that is new; or in the place of the file of that name. The name
    that it took."""
    aside, path = None, next(names)
    try:
        try:
            file, aside = tempfile.mkstemp(prefix=".epitaph.", dir=os.path.dirname(path) or ".")
            with os.fdopen(file, "wb") as out:
                out.writelines(parts)
            while not replace and not link(aside, path):
                path = next(names)
            if replace:
                os.rename(aside, path)
            return path
        except OSError as error:
            raise gdb.GdbError("epitaph: %s: cannot be written: %s" % (path, error.strerror))
    finally:  # Ctrl-C too
        if aside and os.path.lexists(aside):
            os.unlink(aside)


def link(aside, path):
    """Never over a file that another put there meanwhile: False."""
    try:
        os.link(aside, path)
    except FileExistsError:
        return False
    return True

# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_lastwords.py: the pages of what glibc said before it aborted, found
as coredump/find/abortmessage.c finds them: the symbol __abort_msg from the file
that ran, a pointer to pages of { uint32_t size; text }."""

import os
import struct

from epitaph_regular import open_regular
from epitaph_source import AT_PHDR, PAGE

SIZE_MOST = 1 << 20
FILE_MOST = 1 << 30
SHT_SYMTAB, SHT_DYNSYM = 2, 11


def symbol_value(data, wanted):
    """Address in the file of a symbol that .symtab or .dynsym defines."""
    table, = struct.unpack_from("<Q", data, 40)
    step, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + at * step)
                for at in range(count)]
    for kind, offset, size, link in ((s[1], s[4], s[5], s[6])
                                     for s in sections):
        if kind not in (SHT_SYMTAB, SHT_DYNSYM):
            continue
        names = sections[link][4]
        for at in range(offset, offset + size - 23, 24):
            name, section, value = struct.unpack_from("<I2xHQ", data, at)
            end = names + name + len(wanted)
            if section and data[names + name:end + 1] == wanted + b"\0":
                return value
    return None


def read_file(path):
    """The bytes of a regular file; None: it is none, or too large."""
    fd = open_regular(path)
    if fd is None:
        return None
    try:
        with open(fd, "rb") as file:
            if os.fstat(fd).st_size < FILE_MOST:
                return file.read()
    except OSError:
        pass
    return None


def may_hold_libc(source, start, end, path):
    base = path.rsplit(b"/", 1)[-1]
    headers = source.auxv(AT_PHDR)
    return (base.startswith(b"libc.so") or base.startswith(b"libc-")
            or (headers is not None and start <= headers < end))


def pointer_of(source, start, path):
    """Where the process has __abort_msg, by the object mapped at `start`."""
    data = read_file(path)
    head = source.read_exactly(start, PAGE)
    # The page with the build-id: the file that ran has the same.
    if not data or not head or data[:PAGE] != head:
        return None
    try:
        value = symbol_value(data, b"__abort_msg")
        kind, = struct.unpack_from("<H", data, 16)
    except (struct.error, IndexError):
        return None
    if value is None:
        return None
    return value if kind == 2 else start + value


def pages(source):
    """[(address, size)] of the pointer and of what it points to."""
    for start, end, offset, path in source.mappings:
        if offset or not may_hold_libc(source, start, end, path):
            continue
        pointer = pointer_of(source, start, path)
        data = source.read_exactly(pointer, 8) if pointer else None
        address = struct.unpack("<Q", data)[0] if data else 0
        data = (source.read_exactly(address, 4)
                if address and not address % PAGE else None)
        size = struct.unpack("<I", data)[0] if data else 0
        if size and not size % PAGE and size <= SIZE_MOST:
            return [(pointer, 8), (address, size)]
    return []

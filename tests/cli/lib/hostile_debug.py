# SPDX-License-Identifier: BSD-2-Clause
"""hostile_debug.py FOLDER PROGRAM: debug files for PROGRAM (by its build-id, below FOLDER/NAME/.build-id) of at most 5 MB, each
made to cost time or memory: strings that overlap, lists that many entries share, names that expand. Prints the NAMEs.

PROGRAM is stripped; its functions lie 16 bytes apart in the middle of .text (tests/programs/many_functions.S)."""

import os
import struct
import sys

MADE = {}
FUNCTIONS = 40000


def made(function):
    MADE[function.__name__] = function
    return function


def uleb(value):
    out = bytearray()
    while True:
        out.append(value & 127 | (value > 127) << 7)
        value >>= 7
        if not value:
            return bytes(out)


class Program:
    def __init__(self, path):
        data = open(path, "rb").read()
        table, = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + size * n) for n in range(count)]
        text = headers[names]
        name = lambda h: data[text[4] + h[0]:data.index(b"\0", text[4] + h[0])].decode()
        sections = {name(h): h for h in headers}
        self.note = data[sections[".note.gnu.build-id"][4]:][:sections[".note.gnu.build-id"][5]]
        self.build_id = self.note[16:].hex()
        self.note_at = sections[".note.gnu.build-id"][3]
        self.text, self.size = sections[".text"][3], sections[".text"][5]
        code = data[sections[".text"][4]:][:self.size]
        # The longest run of calls 16 bytes apart.
        at = next(n for n in range(0, len(code), 16) if all(code[n + 16 * k] == 0xe8 and code[n + 16 * k + 5] == 0xc3 for k in range(64)))
        self.first = self.text + at

    def function(self, n):
        return self.first + 16 * (n % FUNCTIONS)


class Debug:
    def __init__(self, program):
        self.program, self.sections = program, []
        self.add(".note.gnu.build-id", 7, program.note, 2, program.note_at)
        self.text = self.add(".text", 8, b"", 6, program.text, size=program.size)

    def add(self, name, kind, data, flags=0, address=0, size=None, link=0, info=0, entry=0):
        self.sections.append([name, kind, flags, address, data, len(data) if size is None else size, link, info, entry])
        return len(self.sections)

    def symbols(self, symbols, strings):
        """symbols: (name offset, address, size)"""
        table = bytes(24) + b"".join(struct.pack("<IBBHQQ", name, 0x12, 0, self.text, at, size) for name, at, size in symbols)
        strtab = self.add(".strtab", 3, strings)
        self.add(".symtab", 2, table, link=strtab, info=1, entry=24)

    def dwarf(self, **sections):
        for name, data in sections.items():
            self.add(".debug_" + name, 1, data)

    def save(self, path):
        names, at, headers, body = b"\0", 64, [bytes(64)], b""
        for name, kind, flags, address, data, size, link, info, entry in self.sections + [[".shstrtab", 3, 0, 0, None, 0, 0, 0, 0]]:
            offset = len(names)
            names += name.encode() + b"\0"
            if data is None:
                data, size = names, len(names)
            body += bytes(-len(body) % 8)
            headers.append(struct.pack("<IIQQQQIIQQ", offset, kind, flags, address, at + len(body), size, link, info, 4 if kind == 7 else 8, entry))
            body += data
        body += bytes(-len(body) % 8)
        with open(path, "wb") as out:
            out.write(b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, at + len(body), 0, 64, 56, 0, 64,
                                                               len(headers), len(headers) - 1) + body + b"".join(headers))
        assert os.path.getsize(path) <= 5_000_000, (path, os.path.getsize(path))


# ---- symbols

@made
def symbols_overlap(debug):
    """150,000 names, all of them ends of one."""
    length = 900000
    debug.symbols([(n, debug.program.function(n), 16) for n in range(150000)], b"f" * length + b"\0")


@made
def symbols_at_one_place(debug):
    """150,000 long names of the same bytes."""
    debug.symbols([(n, debug.program.function(0), 16) for n in range(150000)], b"f" * 900000 + b"\0")


@made
def symbols_of_parts(debug):
    """Names of cold parts, ends of one."""
    debug.symbols([(n, debug.program.function(n), 16) for n in range(150000)], b".cold.1" * 120000 + b"\0")


@made
def symbols_that_expand(debug):
    """Short mangled names that stand for long ones."""
    symbols, strings = [], bytearray(b"\0")
    for n in range(FUNCTIONS):
        symbols.append((len(strings), debug.program.function(n), 16))
        strings += b"_Z5f%04xSt4pairIiiES0_IS1_S1_ES0_IS2_S2_ES0_IS3_S3_ES0_IS4_S4_ES0_IS5_S5_E\0" % n
    debug.symbols(symbols, bytes(strings))


# ---- DWARF 4

ABBREVIATIONS = b"".join(uleb(code) + uleb(tag) + bytes([children]) + b"".join(uleb(a) + uleb(f) for a, f in attributes) + b"\0\0"
                         for code, tag, children, attributes in (
    (1, 0x11, 1, ((0x03, 0x0e), (0x1b, 0x0e), (0x10, 0x17), (0x55, 0x17), (0x11, 0x01))),  # unit: name, comp_dir, stmt_list, ranges, low_pc
    (2, 0x2e, 0, ((0x03, 0x0e), (0x55, 0x17))),                # function: name, ranges
    (3, 0x39, 1, ((0x03, 0x0e),)),                             # namespace: name
    (4, 0x2e, 1, ((0x03, 0x0e), (0x11, 0x01), (0x12, 0x06))),  # function: name, low_pc, high_pc
    (5, 0x1d, 0, ((0x31, 0x13), (0x55, 0x17))),                # inlined call: origin, ranges
    (6, 0x2e, 0, ((0x03, 0x0e), (0x11, 0x01), (0x12, 0x06))),  # function without children
    (7, 0x2e, 0, ((0x03, 0x0e), (0x20, 0x0b))),                # abstract: name, inline
    (8, 0x1d, 0, ((0x31, 0x13), (0x11, 0x01), (0x12, 0x06))),  # inlined call: origin, low_pc, high_pc
)) + b"\0"


def unit(body, lines=0, ranges=0, name=0):
    body = struct.pack("<HIB", 4, 0, 8) + b"\1" + struct.pack("<IIIIQ", name, name, lines, ranges, 0) + body + b"\0"
    return struct.pack("<I", len(body)) + body


def ranges(pairs):
    return b"".join(struct.pack("<QQ", *pair) for pair in pairs) + bytes(16)


def everything(program):
    return ranges([(program.text, program.text + program.size)])


def line_table(files, program, rows=b""):
    head = bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b"\0" + files + b"\0"
    body = struct.pack("<HI", 4, len(head)) + head + rows
    return struct.pack("<I", len(body)) + body


def set_address(address):
    return b"\0\x09\2" + struct.pack("<Q", address)


@made
def functions_share_ranges(debug):
    """200,000 functions, each of all 100,000 pieces."""
    pairs = [(debug.program.function(n), debug.program.function(n) + 16) for n in range(100000)]
    debug.dwarf(abbrev=ABBREVIATIONS, str=b"f\0", line=line_table(b"", debug.program), ranges=everything(debug.program) + ranges(pairs),
                info=unit((b"\2" + struct.pack("<II", 0, 32)) * 200000))


@made
def units_share_ranges(debug):
    """90,000 units, each of all 100,000 pieces."""
    pairs = [(debug.program.function(n), debug.program.function(n) + 16) for n in range(100000)]
    debug.dwarf(abbrev=ABBREVIATIONS, str=b"f\0", line=line_table(b"", debug.program), ranges=ranges(pairs), info=unit(b"") * 90000)


@made
def units_thrown_away(debug):
    """The same, where the linker threw all of them away."""
    debug.dwarf(abbrev=ABBREVIATIONS, str=b"f\0", line=line_table(b"", debug.program), ranges=ranges([(0, 1)] * 100000),
                info=unit(b"") * 90000)


@made
def calls_share_ranges(debug):
    """One function with 200,000 inlined calls, each of all 100,000 pieces."""
    pairs = [(debug.program.function(n) + 4, debug.program.function(n) + 5) for n in range(100000)]
    function = b"\4" + struct.pack("<IQI", 0, debug.program.first, 16 * FUNCTIONS)
    debug.dwarf(abbrev=ABBREVIATIONS, str=b"f\0", line=line_table(b"", debug.program), ranges=everything(debug.program) + ranges(pairs),
                info=unit(b"\7" + struct.pack("<IB", 0, 1) + function + (b"\5" + struct.pack("<II", 36, 32)) * 200000 + b"\0"))


@made
def namespaces_of_long_names(debug):
    """60 namespaces around 60,000 inlined calls of functions of their own, each named by 900,000 letters."""
    body = (b"\3" + struct.pack("<I", 0)) * 60
    at = 4 + 7 + 25 + len(body)
    abstract = b"".join(b"\7" + struct.pack("<IB", n, 1) for n in range(FUNCTIONS))
    calls = b"".join(b"\4" + struct.pack("<IQI", n, debug.program.function(n), 16) + b"\x08" +
                     struct.pack("<IQI", at + 6 * n, debug.program.function(n), 16) + b"\0" for n in range(FUNCTIONS))
    debug.dwarf(abbrev=ABBREVIATIONS, str=b"n" * 900000 + b"\0", line=line_table(b"", debug.program), ranges=everything(debug.program),
                info=unit(body + abstract + calls + b"\0" * 60))


@made
def files_many(debug):
    """Each function in a file of its own, in a folder of a long name."""
    rows = b"".join(set_address(debug.program.function(n)) + b"\4" + uleb(n + 1) + b"\1" for n in range(FUNCTIONS))
    files = b"".join(b"s%x.c\0\0\0\0" % n for n in range(FUNCTIONS))
    debug.dwarf(abbrev=ABBREVIATIONS, str=b"/" + b"d" * 900000 + b"\0", ranges=everything(debug.program),
                line=line_table(files, debug.program, rows + set_address(debug.program.function(FUNCTIONS - 1) + 16) + b"\0\1\1"), info=unit(b""))


@made
def rows_at_one_place(debug):
    """3,000,000 rows at the address of the first function."""
    rows = set_address(debug.program.first) + b"\1" * 3000000 + set_address(debug.program.first + 16 * FUNCTIONS) + b"\0\1\1"
    debug.dwarf(abbrev=ABBREVIATIONS, str=b"f\0", ranges=everything(debug.program), line=line_table(b"a.c\0\0\0\0", debug.program, rows),
                info=unit(b"\6" + struct.pack("<IQI", 0, debug.program.first, 16 * FUNCTIONS)))


@made
def tables_overlap(debug):
    """20,000 units with a function each and a line table each, whose programs are one of 900,000 rows."""
    count, head = 20000, bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b"\0a.c\0\0\0\0\0"
    rows, size = set_address(debug.program.first) + b"\1" * 900000 + b"\0\1\1", 10 + len(head)
    tables = b"".join(struct.pack("<IHI", (count - n) * size - 4 + len(rows), 4, (count - n) * size - 10) + head for n in range(count))
    some = b"".join(ranges([(debug.program.function(n), debug.program.function(n) + 16)]) for n in range(count))
    debug.dwarf(abbrev=ABBREVIATIONS, str=b"f\0", ranges=some, line=tables + rows,
                info=b"".join(unit(b"", lines=size * n, ranges=32 * n) for n in range(count)))


def main():
    folder, program = sys.argv[1], Program(sys.argv[2])
    for name, make in MADE.items():
        debug = Debug(program)
        make(debug)
        below = os.path.join(folder, name, ".build-id", program.build_id[:2])
        os.makedirs(below)
        debug.save(os.path.join(below, program.build_id[2:] + ".debug"))
        print(name)


main()

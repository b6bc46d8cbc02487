# SPDX-License-Identifier: BSD-2-Clause
"""hostile_made.py READERS CORE PROGRAM CPU MB plain|sanitized: cores that were made to cost time or
memory, from a real small one: absurd sizes, loops, overlaps, bombs. Each command
must end within CPU seconds of processor time and MB megabytes, with a status of
its own and a message; the sanitized readers get every other one. Prints the
dearest on stderr, and what is not so."""

import bz2
import functools
import gzip
import lzma
import os
import shutil
import struct
import subprocess
import sys

from hostile import SAID, Core, Readers

PRSTATUS, PRPSINFO, AUXV, FILE = 1, 3, 6, 0x46494c45
LOAD, NOTE = 1, 4
WORD = (1 << 64) - 1
COMMANDS = (("info",), ("report",), ("replay",), ("stats",),
            ("extract", "-o", "out.snap"), ("diff", "core.whole"))
MADE = {}


def made(function):
    MADE[function.__name__] = function
    return function


class Made(Core):
    """A core whose headers and notes are written anew, behind its end."""

    def __init__(self, data):
        super().__init__(bytearray(data))
        self.list = [list(h) for h in self.headers]
        self.parts = []  # of notes: (name, type, desc)
        at, end = self.notes[0], sum(self.notes)
        while at + 12 <= end:
            name, desc, kind = struct.unpack_from("<III", data, at)
            start = at + 12 + name + -name % 4
            self.parts.append((data[at + 12:at + 12 + name], kind,
                               bytes(data[start:start + desc])))
            at = start + desc + -desc % 4

    def note(self, kind):
        return next(d for n, k, d in self.parts if k == kind)

    def replace(self, kind, desc):
        self.parts = [(n, k, desc if k == kind else d)
                      for n, k, d in self.parts]

    def place_of(self, address):
        """File offset of the memory at `address`; None."""
        for kind, _, offset, start, _, saved, _, _ in self.list:
            if kind == LOAD and start <= address < start + saved:
                return offset + address - start
        return None

    def word(self, address):
        return struct.unpack_from("<Q", self.data, self.place_of(address))[0]

    def poke(self, address, value):
        struct.pack_into("<Q", self.data, self.place_of(address), value)

    def auxv(self):
        words = struct.unpack("<%dQ" % (len(self.note(AUXV)) // 8),
                              self.note(AUXV))
        return dict(zip(words[::2], words[1::2]))

    def save(self, path, raw_notes=None):
        notes = raw_notes or b"".join(
            struct.pack("<III", len(n), len(d), k) + n + bytes(-len(n) % 4)
            + d + bytes(-len(d) % 4) for n, k, d in self.parts)
        at = len(self.data) + -len(self.data) % 4096
        for header in self.list:
            if header[0] == NOTE:
                header[2], header[5] = at, len(notes)
        table = at + len(notes) + -len(notes) % 8
        count = len(self.list)
        head = bytearray(self.data[:64])
        struct.pack_into("<Q", head, 32, table)
        section = table + 56 * count
        struct.pack_into("<Q", head, 40, section if count >= 65535 else 0)
        struct.pack_into("<HHH", head, 56, min(count, 65535), 64,
                         count >= 65535)
        with open(path, "wb") as out:
            out.write(head + self.data[64:])
            out.seek(at)
            out.write(notes)
            out.seek(table)
            out.write(b"".join(struct.pack("<IIQQQQQQ", *h)
                               for h in self.list))
            out.write(struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 1, 0, count,
                                  0, 0))


def link_maps(core):
    """Addresses of r_debug and of the link maps."""
    auxv = core.auxv()
    base = auxv[3] - 64  # AT_PHDR; the headers are the file's
    at = core.place_of(auxv[3])
    dynamic = 0
    for n in range(auxv[5]):
        kind, _, _, address = struct.unpack_from("<IIQQ", core.data,
                                                 at + 56 * n)
        if kind == 2:
            dynamic = address if address > base else base + address
    while core.word(dynamic) != 21:  # DT_DEBUG
        dynamic += 16
    debug = core.word(dynamic + 8)
    maps, node = [], core.word(debug + 8)
    while node:
        maps.append(node)
        node = core.word(node + 24)
    return debug, maps


# ---- program headers

@made
def segments_overlap(core):
    """200,000 segments at one place, each longer than the last."""
    first = [h for h in core.list if h[0] == LOAD][0]
    core.list += [[LOAD, 6, first[2], first[3] + 8 * n, 0, 4096 + n,
                   4096 + 16 * n, 4096] for n in range(200000)]


@made
def segments_absurd(core):
    """All of the address space, many times, with bytes that the file lacks."""
    core.list += [[LOAD, 7, 4096 * n, 4096 * n, 0, 1 << 62, WORD - 4096 * n, 1]
                  for n in range(5000)]


@made
def segments_of_code(core):
    """60,000 that claim the ELF header of one object."""
    file = struct.unpack_from("<Q", core.note(FILE), 16)[0]
    offset = core.place_of(file)
    core.list += [[LOAD, 5, offset, (1 << 40) + 8192 * n, 0, 4096, 4096, 4096]
                  for n in range(60000)]
    core.replace(FILE, b"")


@made
def notes_again(core):
    """The same notes, by 100,000 program headers."""
    note = next(h for h in core.list if h[0] == NOTE)
    core.list += [list(note) for _ in range(100000)]


# ---- notes

@made
def note_sizes(core):
    """Names and descriptors of 4 GiB."""
    core.parts[1:1] = [(b"CORE\0", 1, b"")] * 50000
    return struct.pack("<III", 0xffffffff, 0xffffffff, 1) * 10 + b"".join(
        struct.pack("<III", 5, 0xfffffff0, 1) + b"CORE\0\0\0\0"
        for _ in range(1000))


@made
def threads_many(core):
    """100,000 of them, all with the stack of the first."""
    name, kind, desc = next(p for p in core.parts if p[1] == PRSTATUS)
    core.parts += [(name, kind, desc[:32] + struct.pack("<I", 100000 + n)
                    + desc[36:]) for n in range(100000)]


@made
def threads_twin(core):
    """100,000 with one number."""
    core.parts += [next(p for p in core.parts if p[1] == PRSTATUS)] * 100000


def file_note(core, entries, count=None):
    """entries: (start, end, page offset, path)"""
    core.replace(FILE, struct.pack(
        "<QQ", len(entries) if count is None else count, 4096)
        + b"".join(struct.pack("<QQQ", *e[:3]) for e in entries)
        + b"".join(e[3] + b"\0" for e in entries))


@made
def files_count(core):
    file_note(core, [(4096, 8192, 0, b"/x")], 1 << 60)


@made
def files_one_object(core):
    """200,000 mappings of the program's first page."""
    start, end, _ = struct.unpack_from("<QQQ", core.note(FILE), 16)
    file_note(core, [(start, end, 0, b"/%d" % (n % 2)) for n in range(200000)])


@made
def files_no_header(core):
    """200,000 that overlap, of files that are not there."""
    file_note(core, [(4096 * n, WORD - 4096, n % 2, b"/y") for n in
                     range(1, 200000)])


@made
def files_all_objects(core):
    """60,000 objects apart from each other."""
    offset = core.place_of(struct.unpack_from("<Q", core.note(FILE), 16)[0])
    core.list += [[LOAD, 5, offset, (1 << 40) + (n << 24), 0, 4096, 4096, 4096]
                  for n in range(60000)]
    file_note(core, [((1 << 40) + (n << 24), (1 << 40) + (n << 24) + 4096, 0,
                      b"/o%d" % n) for n in range(60000)])


@made
def files_long_path(core):
    file_note(core, [(4096 * n + 4096, 4096 * n + 8192, 0, b"/" + b"p" * 60000)
                     for n in range(500)])


@made
def auxv_long(core):
    core.replace(AUXV, struct.pack("<QQ", 3, 1 << 40) * 500000)


@made
def auxv_absurd(core):
    values = core.auxv()
    values.update({3: WORD - 100, 4: WORD, 5: WORD, 33: core.list[1][3]})
    core.replace(AUXV, b"".join(struct.pack("<QQ", *v)
                                for v in values.items()))


# ---- memory

@made
def link_map_loop(core):
    _, maps = link_maps(core)
    core.poke(maps[-1] + 24, maps[1])


@made
def link_map_self(core):
    debug, maps = link_maps(core)
    core.poke(maps[0] + 24, maps[0])
    core.poke(debug + 40, debug)  # r_next
    core.poke(debug, 2)


@made
def link_map_stride(core):
    """A list of 16-byte steps through all of the arena, names included."""
    _, maps = link_maps(core)
    start = next(h for h in core.list if h[0] == LOAD)
    for at in range(start[3] + 4096, start[3] + start[5] - 64, 16):
        core.poke(at, at + 16 - 8)
        core.poke(at + 8, at + 16)
    core.poke(maps[0] + 24, start[3] + 4096)


@made
def stack_loop(core):
    """Frame pointers that lead back, return addresses into one function."""
    sp = struct.unpack_from("<Q", core.note(PRSTATUS), 112 + 19 * 8)[0]
    pc = struct.unpack_from("<Q", core.note(PRSTATUS), 112 + 16 * 8)[0]
    for n in range(0, 2000, 16):
        if core.place_of(sp + n + 8):
            core.poke(sp + n, sp)
            core.poke(sp + n + 8, pc)


# ---- the files that it names

def sections(path):
    said = subprocess.run(["readelf", "-SW", path], capture_output=True,
                          text=True, check=True).stdout
    for line in said.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[0][:1] == "[" and words[0] != "[Nr]":
            yield words[1], int(words[4], 16), int(words[5], 16)


def damaged(program, path, wanted, change):
    shutil.copy(program, path)
    with open(path, "r+b") as file:
        for name, offset, size in sections(program):
            if name == wanted:
                file.seek(offset)
                data = bytearray(file.read(size))
                change(data)
                file.seek(offset)
                file.write(data)


def files_of(program):
    """Names of damaged copies of the program."""
    def ones(data):
        data[len(data) // 4:] = b"\xff" * len(data[len(data) // 4:])

    def repeated(data):
        head = data[:16]
        data[:] = (head * (len(data) // 16 + 1))[:len(data)]

    def shifted(data):
        for at in range(24, len(data), 3):
            data[at] = data[at - 24]

    for section in (".debug_info", ".debug_abbrev", ".debug_line", ".debug_str",
                    ".debug_aranges", ".debug_rnglists", ".eh_frame",
                    ".eh_frame_hdr", ".symtab", ".strtab", ".dynamic"):
        for change in (ones, repeated, shifted):
            path = "program%s.%s" % (section, change.__name__)
            damaged(program, path, section, change)
            yield path
    yield inflating(program)


def inflating(program):
    """Debug information that says that it is 8 GiB."""
    path = "program.inflating"
    subprocess.run(["objcopy", "--compress-debug-sections=zlib", program, path],
                   check=True)
    with open(path, "r+b") as file:
        for name, offset, _ in sections(path):
            if name in (".debug_info", ".debug_line", ".debug_abbrev"):
                file.seek(offset + 8)  # Elf64_Chdr.ch_size
                file.write(struct.pack("<Q", 8 << 30))
    return path


# ---- streams

@functools.cache
def piece(packer):
    return packer(bytes(64 << 20))


def zeroes(packer, size):
    """`size` zeroes, packed in pieces of 64 MiB."""
    return piece(packer) * (size >> 26)


def zstd(data):
    return subprocess.run(["zstd", "-q", "-19", "-c"], input=data,
                          capture_output=True, check=True).stdout


def lz4(data):
    return subprocess.run(["lz4", "-q", "-c"], input=data, capture_output=True,
                          check=True).stdout


def promising(core, size):
    """The core, whose last segment has `size` bytes that are still to come."""
    core.list[-1][5] = core.list[-1][6] = size
    core.save("promise")
    with open("promise", "rb") as file:
        return file.read()


def nameless(core):
    """A core with 8 GiB of memory and no notes."""
    head = bytearray(core.data[:64])
    struct.pack_into("<Q", head, 32, 64)
    struct.pack_into("<H", head, 56, 1)
    head += struct.pack("<IIQQQQQQ", LOAD, 6, 4096, 1 << 40, 0, 8 << 30,
                        8 << 30, 4096)
    return bytes(head) + bytes(4096 - len(head))


def executable(core):
    head = bytearray(nameless(core))
    struct.pack_into("<H", head, 16, 2)
    return bytes(head)


def notes_last(core):
    """Notes at 8 GiB."""
    head = bytearray(nameless(core))
    struct.pack_into("<H", head, 56, 2)
    struct.pack_into("<IIQQQQQQ", head, 120, NOTE, 0, 8 << 30, 0, 0, 4096, 0, 4)
    return bytes(head)


PACKERS = {"zst": zstd, "lz4": lz4, "gz": gzip.compress, "xz": lzma.compress,
           "bz2": bz2.compress}


def streams(core):
    """Names of compressed cores that expand far beyond what they are."""
    data = promising(core, 100 << 30)
    kinds = {end: pack(data) + zeroes(pack, 8 << 30)
             for end, pack in PACKERS.items()}
    kinds["far.zst"] = zstd(data) + zeroes(zstd, 100 << 30)
    kinds["twice.zst"] = zstd(kinds["far.zst"])
    kinds["petabytes.gz"] = gzip.compress(promising(core, 1 << 50)) + zeroes(
        gzip.compress, 8 << 30)
    for made in nameless, executable, notes_last:
        kinds[made.__name__ + ".gz"] = gzip.compress(made(core)) + zeroes(
            gzip.compress, 8 << 30)
    kinds["ones.gz"] = gzip.compress(notes_last(core)) + gzip.compress(
        b"\1" * (64 << 20)) * 128
    kinds["zeroes.zst"] = zeroes(zstd, 100 << 30)
    nested = data
    for _ in range(200):
        nested = gzip.compress(nested)
    kinds["nested.gz"] = nested
    for end, content in kinds.items():
        with open("bomb." + end, "wb") as out:
            out.write(content)
        yield "bomb." + end


# ---- trying them

class Judge:
    def __init__(self, readers, seconds, megabytes):
        self.readers = readers
        self.seconds, self.megabytes = seconds, megabytes
        self.bad = 0
        self.runs = []

    def say(self, what, words):
        self.bad += 1
        print("%s: %s" % (what, words))

    def judge(self, command, name, *more):
        what = " ".join([*command, *more, name])
        result = self.readers.run([*command, *more, name])
        if result is None:
            self.say(what, "hangs")
            return
        status, out, err, peak, cpu = result
        self.runs.append((cpu, peak, what))
        if status not in (0, 1, 2, 3):
            self.say(what, "status %d: %s" % (status, err[-2000:].decode(
                "utf-8", "replace")))
        if cpu > self.seconds:
            self.say(what, "%.1f s of processor time" % cpu)
        if peak > self.megabytes:
            self.say(what, "%d MB" % peak)
        if status and not err and not out:
            self.say(what, "status %d without a word" % status)

    def tell(self):
        print("CPU s, MB:", file=sys.stderr)
        for cpu, peak, what in sorted(self.runs)[-12:] + sorted(
                self.runs, key=lambda r: r[1])[-8:]:
            print("%7.2f %5d  %s" % (cpu, peak, what), file=sys.stderr)


def main():
    readers, path, program, seconds, megabytes, whose = sys.argv[1:7]
    only = sys.argv[7:]
    every = 2 if whose == "sanitized" else 1
    judge = Judge(Readers(readers), float(seconds), int(megabytes))
    with open(path, "rb") as file:
        data = file.read()
    for number, (name, function) in enumerate(MADE.items()):
        if only and name not in only:
            continue
        core = Made(data)
        core.save("made." + name, function(core))
        for command in COMMANDS[number % every::every]:
            judge.judge(command, "made." + name)
        os.unlink("made." + name)
    if not only or "streams" in only:
        for number, name in enumerate(streams(Made(data))):
            for command in (("report",), COMMANDS[4])[number % every::every]:
                judge.judge(command, name)
            os.unlink(name)
    if not only or "files" in only:
        for number, name in enumerate(files_of(program)):
            for command in COMMANDS[1:4][number % every::every]:
                judge.judge(command, path, "--executable=" + name)
            os.unlink(name)
    judge.tell()
    return 1 if judge.bad or not judge.runs else 0


if __name__ == "__main__":
    sys.exit(main())

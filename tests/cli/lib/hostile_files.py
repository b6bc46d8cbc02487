# SPDX-License-Identifier: BSD-2-Clause
"""hostile_files.py READERS CORE CPU MB COUNT [SEED] FILE...: damages the files that
a core names, one section or header of one of them at a time, or cuts it off; its
build-id stays, so it is believed. Each command must end within CPU seconds and MB
megabytes, with a result or a message. Prints what is not so, and the dearest on
stderr."""

import lzma
import os
import random
import struct
import subprocess
import sys
import zlib

from hostile import DEBUG, Readers, WORDS
from hostile_made import Judge, sections

COMMANDS = (("report", DEBUG, "--inlines"), ("report", DEBUG, "--all", "--json"),
            ("replay", DEBUG), ("stats", DEBUG),
            ("extract", "-o", "out.snap"))
UNPACKING = (("report", "--inlines"), ("stats",))
HOLLOW = (".note.gnu.build-id", ".dynstr", ".eh_frame", ".debug_info",
          ".debug_line", ".symtab", ".shstrtab")
KEPT = (".note.gnu.build-id",)


class File:
    """One that the core names, in its place."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = file.read()
        self.parts = [("the ELF header", 16, 48)]
        table, = struct.unpack_from("<Q", self.data, 32)
        count, = struct.unpack_from("<H", self.data, 56)
        self.parts.append(("the program headers", table, 56 * count))
        table, = struct.unpack_from("<Q", self.data, 40)
        count, = struct.unpack_from("<H", self.data, 60)
        self.parts.append(("the section headers", table, 64 * count))
        self.parts += [s for s in sections(path) if s[2] and s[0] not in KEPT
                       and s[1] + s[2] <= len(self.data)]

    def write(self, data):
        # Anew: a process that has it mapped keeps the old one.
        os.unlink(self.path)
        with open(self.path, "wb") as out:
            out.write(data)


def hollow(file, name):
    """The file with holes behind it, and a section of 4 GiB of those."""
    number = next(n for n, s in enumerate(sections(file.path))
                  if s[0] == name)
    table, = struct.unpack_from("<Q", file.data, 40)
    data = bytearray(file.data)
    struct.pack_into("<Q", data, table + 64 * number + 32, 4 << 30)
    file.write(data)
    os.truncate(file.path, 12 << 30)


def packed(kind):
    """256 MiB of zeroes in a quarter of a MB."""
    size = 256 << 20
    if kind == "xz":
        packer = lzma.LZMACompressor(preset=0)
        return b"".join([packer.compress(bytes(1 << 20))
                         for _ in range(256)] + [packer.flush()])
    packer = zlib.compressobj(1)
    data = b"".join([packer.compress(bytes(1 << 20))
                     for _ in range(256)] + [packer.flush()])
    return (b"ZLIB" + struct.pack(">Q", size) if kind == "gnu" else
            struct.pack("<IIQQ", 1, 0, size, 1)) + data


def bombs(file, names=("bomb", "bomb.elf")):
    """The file with a section that becomes 256 MiB, in each way there is."""
    for kind, section in (("xz", ".gnu_debugdata"), ("gnu", ".zdebug_info"),
                          ("elf", ".debug_info")):
        with open(names[0], "wb") as out:
            out.write(packed(kind))
        less = ("--strip-all",) if kind == "xz" else (
            "--remove-section", ".debug_info")
        subprocess.run(["objcopy", *less, file.path, names[1]], check=True)
        subprocess.run(["objcopy", "--add-section", section + "=" + names[0],
                        names[1]], check=True)
        data = bytearray(open(names[1], "rb").read())
        table, = struct.unpack_from("<Q", data, 40)
        for number, part in enumerate(sections(names[1])):
            if kind == "elf" and part[0] == section:  # SHF_COMPRESSED
                struct.pack_into("<Q", data, table + 64 * number + 8, 0x800)
        for name in names:
            os.unlink(name)
        yield data


def flips(data, chance):
    for _ in range(chance.choice((1, 2, 20, 200))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def words(data, chance):
    size = chance.choice((1, 2, 4, 8))
    for _ in range(chance.choice((1, 5, 50))):
        at = chance.randrange(len(data))
        word = chance.choice(WORDS + (chance.getrandbits(64), len(data)))
        piece = struct.pack("<Q", word)[:size][:len(data) - at]
        data[at:at + len(piece)] = piece


def run(data, chance):
    at = chance.randrange(len(data))
    size = min(chance.choice((16, 256, 4096, 1 << 20)), len(data) - at)
    data[at:at + size] = bytes([chance.choice((0, 1, 0x80, 0xff))]) * size


def moved(data, chance):
    at, to = sorted((chance.randrange(len(data)), chance.randrange(len(data))))
    data[to:] = data[at:at + len(data) - to]


DAMAGES = (flips, flips, words, words, run, moved)


def damaged(file, chance):
    """(what was done, the bytes)"""
    if chance.random() < 0.08:
        size = chance.randrange(len(file.data))
        return "%s cut at %d" % (file.path, size), file.data[:size]
    name, at, size = chance.choice(file.parts)
    damage = chance.choice(DAMAGES)
    part = bytearray(file.data[at:at + size])
    damage(part, chance)
    data = file.data[:at] + bytes(part[:size]) + file.data[at + size:]
    return "%s: %s of %s" % (file.path, damage.__name__, name), data


def main():
    readers, core, seconds, megabytes, count, seed = sys.argv[1:7]
    judge = Judge(Readers(readers), float(seconds), int(megabytes))
    files = [File(path) for path in sys.argv[7:]]
    for name in HOLLOW:
        hollow(files[0], name)
        for command in COMMANDS:
            judge.judge(command, core)
        judge.judge(("doctor",), "./" + files[0].path)
        files[0].write(files[0].data)
    for data in bombs(files[-1]):
        files[-1].write(data)
        for command in UNPACKING:
            judge.judge(command, core)
    files[-1].write(files[-1].data)
    chance = random.Random(int(seed))
    for number in range(int(count)):
        file = chance.choice(files)
        what, data = damaged(file, chance)
        file.write(data)
        bad = judge.bad
        for command in COMMANDS:
            judge.judge(command, core)
        judge.judge(("doctor",), "./" + file.path)
        if judge.bad > bad:
            print("  %d: %s" % (number, what))
            os.rename(file.path, "%s.%d.kept" % (file.path, number))
            file.write(file.data)
        file.write(file.data)
    judge.tell()
    return 1 if judge.bad or not judge.runs else 0


if __name__ == "__main__":
    sys.exit(main())

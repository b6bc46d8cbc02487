#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gdb_readers.py FOLDER-OF-gdb-ext COUNT SEED FILE...: what `epitaph save` does
with each FILE, a core, and with COUNT changed copies of it, without gdb: a
stand-in for its module answers that it knows no symbol.

What must hold: nothing but gdb.GdbError comes out, with words; what is printed
steers no terminal; what is written can be read as a snapshot. The copy at work is left in "gdb.last" when something does not hold. Prints how many
inputs it took."""

import os
import random
import struct
import sys
import time
import types
import zlib

EDGES = (0, 1, 8, 0xfff, 0x1000, 0xffff, 0x7fffffff, 0xffffffff, 1 << 47,
         (1 << 63) - 1, 1 << 63, (1 << 64) - 4096, (1 << 64) - 1)
LONGEST = 10  # seconds that one input may take


class GdbError(RuntimeError):
    pass


def stand_in():
    gdb = types.ModuleType("gdb")
    gdb.GdbError = GdbError
    gdb.error = type("error", (RuntimeError,), {})

    def unknown(*_):
        raise gdb.error("no symbol")
    gdb.parse_and_eval = unknown
    sys.modules["gdb"] = gdb


def repair(data):
    """The CRC of each root (format.h), so that changes get past it."""
    for magic in (b"EPITROOT", b"EPITARNA", b"EPITKEPT"):
        at = data.find(magic)
        while 0 <= at <= len(data) - 128:
            struct.pack_into("<I", data, at + 124,
                             zlib.crc32(data[at:at + 124]))
            at = data.find(magic, at + 8)


def changed(original, chance):
    data = bytearray(original)
    for _ in range(chance.randint(1, 4)):
        if len(data) < 16:
            break
        # headers and notes come first: most changes there
        reach = len(data) if chance.random() < .3 else min(len(data), 2048)
        at = chance.randrange(0, reach - 7) & ~7
        way = chance.randrange(4)
        if way == 0:
            data[at + chance.randrange(8)] ^= 1 << chance.randrange(8)
        elif way == 1:
            struct.pack_into("<Q", data, at, chance.choice(EDGES))
        elif way == 2:
            struct.pack_into("<I", data, at, chance.choice(EDGES) & 0xffffffff)
        else:
            word = struct.unpack_from("<Q", data, at)[0]
            struct.pack_into("<Q", data, at,
                             word + chance.randint(-16, 16) & (1 << 64) - 1)
    if chance.random() < .1:
        del data[chance.randrange(len(data) + 1):]
    if chance.random() < .7:
        repair(data)
    return bytes(data)


def save(parts, path):
    """Saves a snapshot, and reads it; the words that gdb would print."""
    process, snapshot = parts
    words = snapshot.save(process.open_core(path), path + ".snapshot")
    with open(path + ".snapshot", "rb") as written:
        assert written.read(4) == b"\x7fELF"
    assert process.open_core(path + ".snapshot").is_snapshot()
    return words


def run(parts, data):
    path = "gdb.last"
    with open(path, "wb") as out:
        out.write(data)
    begun = time.monotonic()
    try:
        words = save(parts, path)
    except GdbError as error:
        words = str(error)
    assert words and words.isprintable(), repr(words)
    assert time.monotonic() - begun < LONGEST, "too slow"


def main():
    folder, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    stand_in()
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    import epitaph_process
    import epitaph_snapshot
    parts = (epitaph_process, epitaph_snapshot)
    chance, inputs = random.Random(seed), 0
    for path in sys.argv[4:]:
        print(path, file=sys.stderr)
        with open(path, "rb") as file:
            original = file.read()
        run(parts, original)
        for _ in range(count):
            run(parts, changed(original, chance))
        inputs += 1 + count
    for name in ("gdb.last", "gdb.last.snapshot"):
        if os.path.exists(name):
            os.remove(name)
    print(inputs, "inputs")


if __name__ == "__main__":
    main()

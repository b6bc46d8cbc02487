# SPDX-License-Identifier: BSD-2-Clause
"""hostile.py READERS CORE cut|flip COUNT plain|sanitized: feeds damaged copies of a core
to the readers (readers.c). Each must end by itself with a status of its own,
within 20 seconds and 500 MB, with a message that names the file; it may call
nothing complete that is cut off, and leaves no half-written file. Prints what is
not so; status 1. The sanitized readers, which take four times as long, get one
case of three, the plain ones the two others."""

import os
import random
import struct
import subprocess
import sys
import zlib

SECONDS = 20
LATE = 124  # the status of what took longer
MEGABYTES = 500
DEBUG = "--debug-path=debug"  # hostile.bash
COMMANDS = (("info",), ("report", DEBUG), ("replay", DEBUG),
            ("extract", "-o", "out.snap"),
            ("export", DEBUG, "-f", "viztracer", "-o", "out.json"))
OUTPUTS = ("out.snap", "out.json")
ON_THE_PAGE = b"\nwarnings\n"  # report tells it there
# Damaged calls fit the program no more.
OTHER_FILE = b"is not the file that ran"
SAID = ("said.out", "said.err")


WORD = (1 << 64) - 1
WORDS = (0, 1, WORD, 1 << 63, WORD - 4095, 1 << 40, 4096, 0xffffffff, WORD >> 1)


def block_check(data, place, offset, identity):
    """runtime/format.h, ep_block_check: of the block at data[place]."""
    tsc, sequence, last = struct.unpack_from("<QQQ", data, place)
    x = identity ^ offset
    for word, factor in ((tsc, 0xff51afd7ed558ccd),
                         (sequence, 0xc4ceb9fe1a85ec53)):
        x = (x ^ word) * factor & WORD
        x ^= x >> 32
    # owner, every, flags and reserved, as they lie there
    x = (x ^ last) * 0x9e3779b97f4a7c15 & WORD
    return x ^ x >> 29 | 1


class Core:
    """Where things lie in the file, by its own headers."""

    def __init__(self, data):
        self.data = data
        self.table, = struct.unpack_from("<Q", data, 32)
        self.count, = struct.unpack_from("<H", data, 56)
        self.headers = [struct.unpack_from("<IIQQQQQQ", data, at) for at in range(
            self.table, self.table + 56 * self.count, 56)]
        self.loads = [(h[2], h[5]) for h in self.headers if h[0] == 1 and h[5]]
        self.notes = next((h[2], h[5]) for h in self.headers if h[0] == 4)
        self.arena, self.arena_size = next(
            (at, size) for at, size in self.loads
            if data[at:at + 8] == b"EPITARNA")

    def note_starts(self):
        at, end = self.notes[0], sum(self.notes)
        while at + 12 <= end:
            name, desc, _ = struct.unpack_from("<III", self.data, at)
            yield at
            yield at + 12 + name + -name % 4
            at += 12 + name + -name % 4 + desc + -desc % 4

    def cuts(self, parts):
        """Each 1/parts of the whole and 1/50 of the arena, each header."""
        size = len(self.data)
        found = {size * n // parts for n in range(parts)}
        found |= {self.arena + self.arena_size * n // 50 for n in range(51)}
        found |= {at + off for at in range(self.table, self.table + 56 * (
            self.count + 1), 56) for off in (0, 1)}
        found |= set(self.note_starts())
        found |= {at for at, _ in self.loads}
        found |= {at + length for at, length in self.loads}
        found |= set(range(0, 64, 8))
        return sorted((cut for cut in found if cut < size), reverse=True)

    def seal(self, data):
        """The CRC of the arena's root (format.h: bytes 124 to 127)."""
        at = self.arena
        struct.pack_into("<I", data, at + 124, zlib.crc32(data[at:at + 124]))

    def blocks(self):
        """Offsets from the arena's start of blocks that hold something."""
        start, size = self.arena, self.arena_size
        identity, = struct.unpack_from("<Q", self.data, start + 48)
        for at in range(4096, size - 4095, 4096):
            if struct.unpack_from("<Q", self.data, start + at + 24)[0] == \
                    block_check(self.data, start + at, at, identity):
                yield at

    def damage_block(self, data, chance, blocks):
        """A word of a block, and its check made right again."""
        at = chance.choice(blocks)
        place = self.arena + at + 8 * chance.choice(
            (0, 1, 2, *[chance.randrange(4, 512) for _ in range(3)]))
        word, = struct.unpack_from("<Q", data, place)
        struct.pack_into("<Q", data, place, chance.choice((
            word ^ 1 << chance.randrange(64), chance.getrandbits(64),
            chance.getrandbits(64) << 12 & WORD | chance.randrange(8),
            *WORDS)))
        identity, = struct.unpack_from("<Q", data, self.arena + 48)
        struct.pack_into("<Q", data, self.arena + at + 24, block_check(
            data, self.arena + at, at, identity))

    def places(self, chance):
        """A byte to damage: headers far more often than their share."""
        near = self.arena + 4096
        return chance.choice((
            lambda: chance.randrange(64),
            lambda: chance.randrange(self.table, self.table + 56 * self.count),
            lambda: self.notes[0] + chance.randrange(self.notes[1]),
            lambda: self.arena + chance.randrange(4096),
            lambda: near + chance.randrange(min(65536, self.arena_size - 4096)),
            lambda: self.arena + chance.randrange(self.arena_size)))()


class Readers:
    """tests/cli/lib/readers.c: the reader's commands, each in a process."""

    def __init__(self, path):
        self.child = subprocess.Popen([path, str(SECONDS)], text=True,
                                      stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)

    def run(self, words):
        """(status, stdout, stderr, peak MB, CPU seconds), or None after too
        long a time."""
        self.child.stdin.write("\t".join(words) + "\n")
        self.child.stdin.flush()
        status, peak, cpu = map(int, self.child.stdout.readline().split())
        if status == LATE:
            return None
        with open(SAID[0], "rb") as out, open(SAID[1], "rb") as err:
            return (status, out.read(), err.read(), peak // 1024,
                    cpu / 1e6)


class Judge:
    def __init__(self, readers):
        self.readers = readers
        self.bad = 0
        self.runs = {}

    def say(self, what, command, words, err=b""):
        self.bad += 1
        if self.bad <= 40:
            print("%s: %s: %s" % (what, " ".join(command), words))
            for line in err.decode("utf-8", "replace").splitlines()[:12]:
                print("  | " + line)

    def try_all(self, name, what, cut):
        for command in COMMANDS:
            for output in OUTPUTS:
                if os.path.exists(output):
                    os.unlink(output)
            before = set(os.listdir())
            result = self.readers.run([*command, name])
            if result is None:
                self.say(what, command, "longer than %d s" % SECONDS)
                continue
            self.judge(what, command, name, cut, *result)
            left = set(os.listdir()) - before - set(OUTPUTS + SAID)
            if left:
                self.say(what, command, "left behind: %s" % left)
                for output in left:
                    os.unlink(output)

    def judge(self, what, command, name, cut, status, out, err, peak, _):
        self.runs[command[0], status] = self.runs.get((command[0], status), 0) + 1
        wrote = any(os.path.exists(output) and os.path.getsize(output)
                    for output in OUTPUTS) or (out and command[0] not in (
                        "extract", "export"))
        if status not in (0, 1, 2, 3):
            self.say(what, command, "status %d" % status, err)
        elif peak > MEGABYTES:
            self.say(what, command, "%d MB" % peak, err)
        elif status <= 1 and not wrote:
            self.say(what, command, "status %d and nothing written" % status, err)
        elif status == 0 and cut:
            self.say(what, command, "a core that is cut off is called complete",
                     err)
        elif cut and b"did not die" in out:
            self.say(what, command, "says that it did not die", out)
        elif status and name.encode() not in err and not (
                status == 1 and (ON_THE_PAGE in out or OTHER_FILE in err)):
            self.say(what, command, "status %d without the file's name"
                     % status, err)
        elif status > 1 and any(map(os.path.exists, OUTPUTS)):
            self.say(what, command, "status %d and a file" % status, err)


def mine(cases, whose):
    """The cases that this run judges."""
    for number, case in enumerate(cases):
        if (number % 3 == 0) == (whose == "sanitized"):
            yield case


def cut(core, judge, parts, whose):
    with open("cut.core", "wb") as out:
        out.write(core.data)
    for size in mine(core.cuts(parts), whose):
        os.truncate("cut.core", size)
        judge.try_all("cut.core", "cut at %d" % size, True)


def flipped(core, count, seed=1):
    chance = random.Random(seed)
    blocks = list(core.blocks())
    for number in range(count):
        data = bytearray(core.data)
        for _ in range(chance.choice((1, 1, 1, 2, 5, 20))):
            at = core.places(chance)
            if chance.random() < 0.25:
                core.damage_block(data, chance, blocks)
            elif chance.random() < 0.5:
                data[at] ^= 1 << chance.randrange(8)
            else:
                struct.pack_into("<Q", data, at & ~7, chance.choice(
                    WORDS + (chance.getrandbits(64),)))
        core.seal(data)
        yield number, data


def flip(core, judge, count, whose):
    for number, data in mine(flipped(core, count), whose):
        with open("flip.core", "wb") as out:
            out.write(data)
        bad = judge.bad
        judge.try_all("flip.core", "flip %d" % number, False)
        if judge.bad > bad and judge.bad <= 5:
            os.rename("flip.core", "flip.%d.kept" % number)


def main():
    readers, path, mode = sys.argv[1:4]
    with open(path, "rb") as file:
        core = Core(file.read())
    judge = Judge(Readers(readers))
    {"cut": cut, "flip": flip}[mode](core, judge, int(sys.argv[4]), sys.argv[5])
    for key, count in sorted(judge.runs.items()):
        print("%s: status %d: %d times" % (*key, count), file=sys.stderr)
    if not judge.runs:
        judge.say(mode, (), "nothing was tried")
    if judge.bad > 40:
        print("… and %d more" % (judge.bad - 40))
    return 1 if judge.bad else 0


if __name__ == "__main__":
    sys.exit(main())

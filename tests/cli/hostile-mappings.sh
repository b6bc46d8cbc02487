#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A core that says of one file that it was mapped 140,000 times: the file, which takes long to look at, is opened once and not for each
# of them. Every command has 10 s of the processor; at a millisecond a mapping it would take minutes.
# nothing crashes
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
python3 - <<'END'
import os
import struct

MAPPINGS, SECTIONS = 140_000, 60_000
HEADER = "<HHIQQQIHHHHHH"


def elf(kind, segments, sections):
    return (b"\x7fELF\2\1\1" + b"\0" * 9 +
            struct.pack(HEADER, kind, 62, 1, 0, 64, 64 + 56 * segments if sections else 0, 0, 64, 56, segments, 64, sections, 0))


def note(number, words):
    return struct.pack("<III", 5, len(words), number) + b"CORE\0\0\0\0" + words + b"\0" * (-len(words) % 4)


def core(name, path):
    base = 0x500000000000
    status = bytearray(336)
    struct.pack_into("<i", status, 12, 11)
    struct.pack_into("<i", status, 32, 4242)
    files = struct.pack("<QQ", MAPPINGS, 4096)
    files += b"".join(struct.pack("<QQQ", base + 8192 * i, base + 8192 * i + 4096, 0) for i in range(MAPPINGS))
    files += (path.encode() + b"\0") * MAPPINGS
    notes = note(1, bytes(status)) + note(0x46494c45, files)
    segment = struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(notes), 0, 4)
    open(name, "wb").write(elf(4, 1, 0) + segment + notes)


def large(path):
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 4096, 4096, 4096)
    sections = struct.pack("<IIQQQQIIQQ", 0, 8, 0, 0, 0, 0, 0, 0, 0, 0) * SECTIONS
    open(path, "wb").write((elf(3, 1, SECTIONS) + load + sections).ljust(4096, b"\0"))


for name in "file", "libc.so.6":
    large(name)
    core(f"core.{name}", os.path.abspath(name))
END
ulimit -t 10
for core in core.file core.libc.so.6; do
	gives 1 "$EPITAPH" report $core
	has out 'SIGSEGV (segmentation fault) in thread 4242'
	gives 2 "$EPITAPH" replay $core
	gives 2 "$EPITAPH" extract -o snapshot $core
done
exit $((failures != 0))

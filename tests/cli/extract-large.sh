#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Cores of more than 4 GiB (sparse, so that they fit here): each byte of the snapshot is the core's, wherever it lies in it.
# timeout: 600
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O2 -pthread "$TOP/tests/bench/bulk.c" -o bulk
crash 134 ./bulk 1 5000
[ "$(stat -c %s core)" -gt $((5 << 30)) ] || fail "the core has only $(stat -c %s core) bytes"
[ "$(du -m core | cut -f1)" -lt 1000 ] || { rm core; fail "the core is not sparse here"; }
"$EPITAPH" extract -q -o snapshot core

# compare: what the snapshot holds, byte by byte, and what of it lies beyond 4 GiB. move: the core's first segment (the
# arena's) behind its end.
cat >large.py <<'END'
import struct, sys

def loads(file):
    file.seek(0)
    count, = struct.unpack_from("<H", file.read(64), 56)
    for at in range(count):
        file.seek(64 + 56 * at)
        kind, _, offset, address, _, size, _, _ = struct.unpack(
            "<IIQQQQQQ", file.read(56))
        if kind == 1:
            yield 64 + 56 * at, offset, address, size

def compare(core, snapshot):
    whole, beyond, count = list(loads(core)), 0, 0
    for _, offset, address, size in list(loads(snapshot)):
        for _, start, base, length in whole:
            low, high = max(base, address), min(base + length, address + size)
            if low >= high:
                continue
            core.seek(start + low - base)
            snapshot.seek(offset + low - address)
            assert core.read(high - low) == snapshot.read(high - low), hex(low)
            beyond += (high - low) * (start >= 1 << 32)
            count += high - low
    print(count, beyond)

def move(core):
    header, offset, _, size = next(loads(core))
    core.seek(offset)
    data = core.read(size)
    end = core.seek(0, 2) + 4095 & ~4095
    core.seek(end)
    core.write(data)
    core.seek(offset)
    core.write(bytes(size))
    core.seek(header + 8)
    core.write(struct.pack("<Q", end))

if sys.argv[1] == "compare":
    compare(open(sys.argv[2], "rb"), open(sys.argv[3], "rb"))
else:
    move(open(sys.argv[2], "r+b"))
END
read -r count beyond < <(python3 large.py compare core snapshot)
[ "$count" -gt 25000000 ] || fail "only $count bytes compared"
[ "$beyond" -ge 4096 ] || fail "nothing of the snapshot lies beyond 4 GiB"

# A snapshot also keeps when the core's file was written.
touch -r core written
python3 large.py move core
touch -r written core
"$EPITAPH" extract -q -o moved core
cmp snapshot moved
rm core

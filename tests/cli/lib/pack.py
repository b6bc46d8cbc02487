# SPDX-License-Identifier: BSD-2-Clause
"""pack.py KIND IN OUT: compresses a sparse file as zstd, lz4, gzip, xz or bzip2
do, in the time that its data takes: holes are made of pieces that are packed
once each."""

import bz2
import gzip
import lzma
import os
import subprocess
import sys


def tool(*words):
    return lambda data: subprocess.run(words, input=data, capture_output=True,
                                       check=True).stdout


PACKERS = {"zstd": tool("zstd", "-q", "-c"), "lz4": tool("lz4", "-q", "-c"),
           "gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress}
PIECES = (32 << 20, 1 << 20, 4096, 1)


def main():
    kind, name, output = sys.argv[1:4]
    pack = PACKERS[kind]
    zeroes = {piece: pack(bytes(piece)) for piece in PIECES}
    size = os.path.getsize(name)
    with open(name, "rb") as file, open(output, "wb") as out:
        at = 0
        while at < size:
            try:
                data = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:  # no more
                data = size
            for piece in PIECES:
                out.write(zeroes[piece] * ((data - at) // piece))
                at += (data - at) // piece * piece
            if data == size:
                break
            at = os.lseek(file.fileno(), data, os.SEEK_HOLE)
            file.seek(data)
            out.write(pack(file.read(at - data)))


if __name__ == "__main__":
    sys.exit(main())

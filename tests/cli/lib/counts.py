#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""counts.py PROGRAM [cpu=NS] SYMBOL=CALLS...: a counts file as if PROGRAM had
made these calls, on stdout: docs/format.md's words, by another hand than the
runtime's. Symbols as nm prints them; of several of one name, all."""

import re
import subprocess
import sys
import zlib

program, words = sys.argv[1], sys.argv[2:]
cpu = 0
calls = {}
for word in words:
    name, number = word.rsplit("=", 1)
    if name == "cpu":
        cpu = int(number)
    else:
        calls[name] = int(number)
notes = subprocess.run(["readelf", "-nW", program], text=True, check=True, stdout=subprocess.PIPE).stdout
build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
nm = subprocess.run(["nm", program], text=True, check=True, stdout=subprocess.PIPE).stdout
counted = {}
for line in nm.splitlines():
    fields = line.split()
    if len(fields) == 3 and fields[2] in calls and calls[fields[2]]:
        # A hook tells the end of its own call, behind the function's first byte.
        counted[int(fields[0], 16) + 9] = calls[fields[2]]
missing = set(calls) - {line.split()[-1] for line in nm.splitlines()}
if missing:
    sys.exit(f"counts.py: {program} has no {', '.join(sorted(missing))}")
text = "epitaph-counts 1\n"
text += f"run identity=00000000000000aa pid=7 cpu={cpu} program={program}\n"
text += f"module build-id={build_id} executable=1 path={program}\n"
text += "".join(f"{address:x} {counted[address]}\n" for address in sorted(counted))
crc = zlib.crc32(text.encode())
print(f"{text}end {text.count(chr(10))} {crc:08x}")

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# gdb's Python sees the layout as the compiler does, and its block check and its times are format.h's.
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"

# The compiler judges the generated module, constant by constant and field by field.
cat >judge.py <<'EOF'
import struct
import sys
f = sys.modules["epitaph_format"]
STRUCTS = ("root", "root_note", "arena", "section", "process", "clock", "anchor", "thread", "block", "snapshot_note",
           "snapshot_thread")
print('#include "runtime/format.h"')
for name, value in vars(f).items():
    if name.startswith("EP_") and isinstance(value, int):
        print('static_assert((uint64_t)%s == UINT64_C(%d), "%s");' % (name, value, name))
    elif name.startswith("EP_"):
        print('static_assert(sizeof(%s) - 1 == %d, "%s");' % (name, len(value), name))
for name in STRUCTS:
    size, fields = getattr(f, name.upper())
    print('static_assert(sizeof(struct ep_%s) == %d, "%s");' % (name, size, name))
    for field, (form, offset) in fields.items():
        print('static_assert(offsetof(struct ep_%s, %s) == %d && sizeof(((struct ep_%s *)0)->%s) == %d, "%s");' % (
            name, field, offset, name, field, struct.calcsize(form), field))
EOF
in_gdb -x judge.py >judge.c || say "$(cat gdb.err)"
[ "$(wc -l <judge.c)" -gt 120 ] || say "only $(wc -l <judge.c) claims"
gcc -std=gnu11 -I "$TOP" -fsyntax-only judge.c || say "the generated module differs from format.h"

cat >check.py <<'EOF'
import struct
import sys
f, trace = sys.modules["epitaph_format"], sys.modules["epitaph_trace"]
for tsc, sequence, owner, every, flags, offset, identity, check in f.BLOCK_CHECK_SAMPLES:
    block = {"tsc": tsc, "sequence": sequence, "owner": owner, "every": every, "flags": flags, "reserved": 0}
    assert trace.block_check(block, offset, identity) == check, block
    assert trace.block_check(block, offset + 4096, identity) != check, block

# docs/format.md: a stamp is bits 0-15 of TSC >> 3, an escape of type 1 holds bits 16-41 of the next one's.
def record(tsc, address=0x401000):
    return ((tsc >> 3 & 0xffff) or 1) << 48 | address
def escape(tsc):
    payload = tsc >> 3 >> 16 & 0x3ffffff
    return payload >> 10 << 48 | (payload >> 9 & 1) << 47 | (payload & 0x1ff) << 3 | 1
def last(tsc, *words):
    return trace.last_time(tsc, struct.pack("<%dQ" % len(words), *words))
start = 0x123456789ab8
assert last(start) == start
assert last(start, 0x401000) == start  # untimed
assert last(start, record(start + 80)) == start + 80
assert last(start, record(start + 80), 0x401000, 0) == start + 80
assert last(start, record(start + 0x70000)) == start + 0x70000  # the stamp wraps
assert last(start, *(record(start + 0x3ff00 * n) for n in range(1, 200))) == start + 0x3ff00 * 199
for gap in (0x40000, 0x7ffff8, 1 << 30, 1 << 44):
    assert last(start, record(start + 8), escape(start + gap), record(start + gap)) == start + gap, hex(gap)
    assert last(start, escape(start + gap), record(start + gap), record(start + gap + 800)) == start + gap + 800
print("right")
EOF
in_gdb -x check.py >told || true
[ "$(cat told)" = right ] || say "$(cat told gdb.err)"
exit $((failures > 0))

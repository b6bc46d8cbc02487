#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# gdb's Python sees the layout as the compiler does.
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"

# The compiler judges the generated module, constant by constant and field by field.
cat >judge.py <<'EOF'
import struct
import sys
f = sys.modules["epitaph_format"]
STRUCTS = ("root", "arena", "section", "clock", "anchor", "snapshot_note", "snapshot_thread", "switches", "switched")
print('#include "runtime/format.h"\n#include "runtime/format_switches.h"')
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
[ "$(wc -l <judge.c)" -gt 50 ] || say "only $(wc -l <judge.c) claims"
gcc -std=gnu11 -I "$TOP" -fsyntax-only judge.c || say "the generated module differs from format.h"

exit $((failures > 0))

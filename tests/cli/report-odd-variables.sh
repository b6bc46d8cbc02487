# SPDX-License-Identifier: BSD-2-Clause
# Debug information that no compiler writes gets a bounded answer: types that are their own parts, arrays that no memory holds,
# expressions without an end, pointers to nowhere; and so does a core of which the stack is cut off.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

gcc "$TOP/tests/programs/odd_variables.S" -o odd
crash core "$PWD/odd"
"$EPITAPH" report --all core >page || [ $? -eq 1 ]
for words in 'plain = 42' 'ring = ...' 'turtles = <elements without a size>' 'far = {<not mapped>}' 'wrapped = {<not mapped>}' \
	'endless = <an expression without an end>' 'circling = <an expression without an end>' \
	'into_the_middle = <an expression that makes no sense>' 'empty_stack = <an expression that makes no sense>' \
	'rotated = <an expression that makes no sense>' 'heap_of_them = <an expression that makes no sense>' \
	'by_zero = <an expression that makes no sense>' 'least = 0' 'unknown = <an expression that is not understood>' \
	'wild = <memory that the core does not have>' 'no_register = <a register that is not known>' 'piece = 1' \
	'bits = {wide = <bits that make no sense>, away = <bits that make no sense>}' 'odd_size = <a number of 13 bytes>' \
	'red\x1b[31m\x0a\xff = 42' 'optimized out: bit_piece'; do
	has page "$words"
done
for name in inside derived many overflow mirror loop; do
	has page "$name = "
done
# On a page of one screen a value is cut to its line, between words.
COLUMNS=80 "$EPITAPH" report core >brief || [ $? -eq 1 ]
grep -qE '^      inside = \{me = .*\.\.\.$' brief || say "a value is not cut: $(grep inside brief)"
[ "$(awk '{ if (length($0) > most) most = length($0) } END { print most }' page)" -lt 400 ] || say "a line of the page is too long"
"$EPITAPH" report --json core >report.json || [ $? -eq 1 ]
python3 - "$TOP/docs/report.schema.json" <<'END' || say "the JSON is not what the schema says"
import json, sys
place = json.load(open("report.json", encoding="utf-8", errors="strict"))["place"]
assert max(len(v["value"].encode()) for v in place["variables"]) < 1000
assert {v["name"] for v in place["variables"] if not v["known"]} >= {"ring", "far", "endless", "wild", "unknown"}
END

# The frame's memory is what the core was cut before, or what it says it has not saved.
python3 - core short unsaved <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
table, = struct.unpack_from("<Q", data, 32)
count, = struct.unpack_from("<H", data, 56)
# The stack is the writable segment that ends highest; the last one before the vsyscall page.
loads = [at for at in range(table, table + 56 * count, 56) if struct.unpack_from("<II", data, at) == (1, 6)]
stack = max(loads, key=lambda at: struct.unpack_from("<Q", data, at + 16)[0])
offset, = struct.unpack_from("<Q", data, stack + 8)
open(sys.argv[2], "wb").write(data[:offset])
struct.pack_into("<Q", data, stack + 32, 0)
open(sys.argv[3], "wb").write(data)
END
"$EPITAPH" report --all short >page || [ $? -eq 1 ]
has page 'plain = <cut off in the core>'
"$EPITAPH" report --all unsaved >page || [ $? -eq 1 ]
has page 'plain = <not saved in the core>'

[ "$failures" -eq 0 ]

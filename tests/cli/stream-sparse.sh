#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A core with gigabytes that were mapped and hardly used, compressed: the same report and snapshot as of the plain one, in as
# little memory as a small core takes. It expands as bombs do, and is none.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/sparse.c" -o sparse

wanted() { # MIB: the plain core, what is told of it, and its snapshot
	crash 134 ./sparse "$1"
	[ "$(stat -c %s core)" -gt $(($1 << 20)) ] || fail "the core has only $(stat -c %s core) bytes"
	touch -d @0 core # nothing is known of the end by the time of this file, nor of its copies
	"$EPITAPH" report core >wanted.report
	grep -q die wanted.report || { cat wanted.report; fail "nothing in the report"; }
	rm -f wanted.core
	"$EPITAPH" extract -q -o wanted.core core
}

peak() { # COMMAND...: runs it; prints the most memory that it took, KiB
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}

same() { # KIND
	local kib
	python3 "$TOP/tests/cli/lib/pack.py" "$1" core "core.$1"
	touch -d @0 "core.$1"
	kib=$(peak "$EPITAPH" extract -q -o out.core "core.$1")
	cmp wanted.core out.core || fail "$1: another snapshot"
	# A sanitizer's own does not count.
	[ "$EPITAPH" != "$BIN/epitaph" ] || [ "$kib" -lt 60000 ] || fail "$1: $kib KiB for $(stat -c %s core) bytes"
	"$EPITAPH" report "core.$1" >report 2>said || { cat said; fail "$1: report ends with $?"; }
	[ ! -s said ] || { cat said; fail "$1: something was said"; }
	cmp wanted.report report || fail "$1: another report"
}

# Either is more than what is read of a stream that says nothing of a process.
if [ "$EPITAPH" = "$BIN/epitaph" ]; then
	wanted 8192
	same zstd
fi
wanted 768
same lz4
same gzip

# Its first bytes, with headers that promise more than is read so.
python3 - core.gzip promise.gz <<'END'
import gzip, struct, sys
with gzip.open(sys.argv[1]) as file:
    data = bytearray(file.read(1 << 20))
table, = struct.unpack_from("<Q", data, 32)
count, = struct.unpack_from("<H", data, 56)
at = max(range(table, table + 56 * count, 56),
         key=lambda at: struct.unpack_from("<Q", data, at + 32))
struct.pack_into("<QQ", data, at + 32, 1 << 50, 1 << 50)
with open(sys.argv[2], "wb") as out:
    out.write(gzip.compress(bytes(data)) + gzip.compress(bytes(64 << 20)) * 16)
END
status=0
"$EPITAPH" extract -q -o out.core promise.gz 2>said || status=$?
[ $status -eq 1 ] && grep -q "expands more than 200 times: ended after 53" said || { cat said; fail "a bomb of 2^50 bytes: status $status"; }
rm -f core* wanted.core

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A core that comes compressed, or through a pipe, is read like the file: the same report, and a snapshot that is the same to
# the last byte. Memory does not grow with it; a stream that ends early is a truncated core; a bomb is ended.
# sanitized only
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O1 -g -pthread "$TOP/tests/bench/bulk.c" -o bulk
crash 134 ./bulk 200 1
[ "$(stat -c %s core)" -gt 200000000 ] || fail "the core has only $(stat -c %s core) bytes"
# A stream has no time of its own that bounds the end; nor has a file of this time.
touch -d @0 core
"$EPITAPH" extract -q -o wanted.core core
"$EPITAPH" report core >wanted.report

same() { # WORDS: the files report and core.out are those of the core
	cmp wanted.report report || fail "$1: another report"
	cmp wanted.core out.core || fail "$1: another snapshot"
	rm -f report out.core
}

# What systemd-coredump, apport and people use.
zstd -q -1 core -o core.zst
lz4 -q -1 core core.lz4
xz -0 -T2 -k core
touch -d @0 core.*
for packed in core.zst core.lz4 core.xz; do
	"$EPITAPH" report "$packed" >report
	"$EPITAPH" extract -q -o out.core "$packed"
	same "$packed"
done

# Through a pipe, plain and compressed; a name that is a pipe.
"$EPITAPH" report - <core.zst >report
cat core | "$EPITAPH" extract -q -o out.core -
same "a pipe"
"$EPITAPH" report <(zstd -dc core.zst) >report
cat core.lz4 | "$EPITAPH" extract -q -o out.core -
same "a compressed pipe"

# A snapshot is a core.
zstd -q wanted.core -o small.zst
"$EPITAPH" report wanted.core >report.small
"$EPITAPH" report small.zst | cmp - report.small || fail "a compressed snapshot: another report"

# gdb and eu-stack agree on the snapshot of a stream.
zstd -dc core.zst | "$EPITAPH" extract -q -o out.core -
eu-stack --core=core -e bulk -n 0 >wanted.stacks 2>&1 || true
eu-stack --core=out.core -e bulk -n 0 >stacks 2>&1 || true
[ -s stacks ] && cmp wanted.stacks stacks || fail "eu-stack sees other stacks"

# Memory: what libarchive takes, not what the core has. A sanitizer's own does not count.
if [ "$EPITAPH" = "$BIN/epitaph" ]; then
	peak=$(python3 - "$EPITAPH" <<'END'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "extract", "-q", "-o", "peak.core", "core.zst"], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
	)
	[ "$peak" -lt 60000 ] || fail "a core of 230 MB took $peak KiB"
fi

# Cut off: as much as there is, status 1, and said.
size=$(stat -c %s core.zst)
for cut in 30 90; do
	status=0
	head -c $((size * cut / 100)) core.zst | "$EPITAPH" info - >info 2>said || status=$?
	[ $status -eq 1 ] || { cat said; fail "cut at $cut %: status $status"; }
	grep -q "damaged or cut off after" said || { cat said; fail "cut at $cut %: not said"; }
done
status=0
head -c 12 core.zst | "$EPITAPH" info - >info 2>said || status=$?
[ $status -eq 3 ] || fail "12 bytes: status $status"

# What is no core, and no room for one.
status=0
gzip -c "$0" | "$EPITAPH" report - 2>said || status=$?
[ $status -eq 3 ] && grep -q "a text file" said || { cat said; fail "a compressed text"; }
status=0
TMPDIR=/nowhere "$EPITAPH" report core.zst 2>said || status=$?
[ $status -eq 3 ] && grep -q "TMPDIR names another" said || { cat said; fail "no room"; }

# Without libarchive: said, with its package; what needs no library is read.
mkdir -p broken other
echo 'no library' >broken/libarchive.so.13
cc -shared -o other/libarchive.so.13 -x c /dev/null
for lib in broken/libarchive13 other/lacks; do
	status=0
	LD_LIBRARY_PATH=${lib%/*} "$EPITAPH" report small.zst 2>said || status=$?
	[ $status -eq 3 ] && grep -q "small.zst: .*${lib#*/}" said || { cat said; fail "without libarchive: status $status"; }
	LD_LIBRARY_PATH=${lib%/*} "$EPITAPH" report wanted.core | cmp - report.small || fail "a plain core without libarchive"
done

# The file that it is read from is not written over.
status=0
"$EPITAPH" extract -q -o core.zst core.zst 2>said || status=$?
[ $status -ne 0 ] && zstd -tq core.zst || fail "a compressed core was replaced by its own snapshot"
rm -f core*

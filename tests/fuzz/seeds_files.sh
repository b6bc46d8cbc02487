#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# seeds_files.sh FOLDER: writes the first inputs of the targets that take files and texts into FOLDER/NAME: small objects with
# symbols, DWARF of both compilers, a debug link; an object whose note and symbol lead to the root of fuzz_root.c.
set -euo pipefail
out=$1
mkdir -p "$out"/{names,root,texts,response,counts}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >one.cc <<'END'
struct base { virtual int turn(int); };
extern "C" int other(int);
static __attribute__((noinline)) int inner(int n) { return n * 3 + other(n); }
int base::turn(int n) { if (n == 7) __builtin_trap(); return inner(n) + other(1); }
namespace deep { template <class T> T twice(T t) { return t + t + other((int)t); } template int twice<int>(int); }
END
flags='-O2 -fPIC -shared -nostdlib -fno-exceptions -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 -ffile-prefix-map='$work'=/src'
g++ $flags -gdwarf-5 -Wl,--build-id one.cc -o "$out/names/gcc5.so"
g++ $flags -gdwarf-2 -gno-column-info -Wl,--build-id=none one.cc -o "$out/names/gcc2.so"
clang++ $flags -gdwarf-4 one.cc -o "$out/names/clang4.so"
clang++ $flags -gdwarf-5 one.cc -o "$out/names/clang5.so"
g++ $flags -g -gz=zlib -Wl,--build-id one.cc -o "$out/names/compressed.so"
g++ $flags one.cc -s -o "$out/names/stripped.so"
g++ $flags -g one.cc -o linked.so
objcopy --only-keep-debug linked.so "$out/names/debug.so"
objcopy --strip-debug --add-gnu-debuglink="$out/names/debug.so" linked.so "$out/names/linked.so"

cat >inlined.cc <<'END'
extern "C" int other(int);
#define ALWAYS inline __attribute__((always_inline))
namespace { ALWAYS int deepest(int n) { return other(n) + other(n + 1); } }
namespace deep { struct s { int v; ALWAYS int get(int n) { return deepest(n) * v; } }; }
int outer(deep::s &s, int n) { for (int i = 0; i < n; i++) { int k = s.get(i); if (other(k)) return k; } return s.get(n); }
END
g++ $flags -gdwarf-5 -Wl,--build-id=none inlined.cc -o "$out/names/inlined5.so"
clang++ $flags -gdwarf-4 inlined.cc -o "$out/names/inlined4.so"

# fuzz_root.c has the object at 0x500000 and the root at 0x600800.
cat >root.s <<'END'
	.globl epitaph_root
	.set epitaph_root, 0x100800
	.section .note.epitaph, "a", @note
	.balign 4
	.long 8, 8, 1
	.asciz "EPITAPH"
	.quad 0x1122334455667788
	.text
	.globl code
code:	ret
END
gcc -shared -nostdlib -Wl,-z,noseparate-code -Wl,--build-id root.s -o root.so
python3 - root.so "$out/root" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
mark = struct.pack("<Q", 0x1122334455667788)
at = data.index(mark)
noted = data.replace(mark, struct.pack("<Q", 0x100800 - at))
def write(name, ways, what):
    open(f"{sys.argv[2]}/{name}", "wb").write(bytes([ways]) + what)
write("note-on-disk", 0, noted)
write("note-saved", 1, noted)
write("symbol", 0, data)
write("scan", 1, data)
write("no-root", 3, noted)
END
printf '\001\000off' >"$out/texts/switch"
printf '\001\0010.5M' >"$out/texts/size"
printf '\000EPITAPH_RING=1G\000EPITAPH_MIN_DURATION=5us\000EPITAPH_TIMESTAMP_EVERY=8\000EPITAPH_SIGNAL=RTMIN+3' >"$out/texts/settings"
printf '\002-1.5ms' >"$out/texts/time"
printf '\003\001\002\003\004' >"$out/texts/number"
printf '\004\003--last\0005ms\000--since=-5s\000core' >"$out/texts/command"
printf '\005\100host\000/bin/exe\000a%%p.%%e.%%h.%%t.%%n.%%%%' >"$out/texts/pattern"
printf '\006_ZNSt6vectorIiSaIiEE9push_backERKi' >"$out/texts/cplus"
printf '\006_RNvC6_123foo3bar' >"$out/texts/rust"
printf '\0070123456701234567012345670"\\\n\303\244\355\240\200' >"$out/texts/json"
printf -- "-O2 -I'a b' \"c \\\\\" d\" e\\\\ f '' \"\"" >"$out/response/words"

# Pages of a process that counts (fuzz_counts.c): a head; sites; counters of two threads; a list that is larger than its page.
python3 - "$out/counts" <<'END'
import struct, sys
def chunk(page, data):
    return struct.pack("<BH", page, len(data)) + data
def extent(page, kind, pages, first, entries):
    capacity = (pages * 4096 - 64) // (16 if kind == 1 else 8)
    return chunk(page, struct.pack("<IIQQQQQQQ", kind, 1, pages * 4096, first, capacity, 0, 0, 0, 0) + entries)
def write(name, *chunks):
    open(f"{sys.argv[1]}/{name}", "wb").write(b"".join(chunks))
head = chunk(0, struct.pack("<QQQQQQQQQ", 3, 0, 2, 8192, 1000, 5000, 4000, 10, 7))
sites = b"".join(struct.pack("<QQ", a, 1000000 + i) for i, a in enumerate([0x401136, 0x401137, 0x7f0000000000]))
calls = struct.pack("<QQQ", 5, 1, 2)
write("two-threads", head, extent(1, 1, 4, 0, sites), extent(5, 2, 1, 0, calls), extent(6, 2, 2, 0, calls))
write("second-list", head, extent(1, 1, 1, 0, sites), extent(2, 1, 1, 252, sites), extent(3, 2, 1, 252, calls), chunk(9, b"junk"))
write("too-many", chunk(0, b"\xff" * 128), extent(1, 1, 1, 0, sites), extent(2, 2, 1, 0, b"\xff" * 24), extent(3, 2, 1, 0, calls))
write("overlap", head, extent(1, 1, 60, 0, sites), extent(2, 2, 1, 1 << 63, calls), extent(63, 2, 9, 0, calls))
END
cat >"$out/counts/file" <<'END'
epitaph-counts 1
run identity=00000000000000ab pid=12 start=1700000000000000000 duration=5000 cpu=4000 threads=3 memory=8192 host=my%20host program=/bin/a%25b
run identity=00000000000000ac pid=13 lost=2 incomplete=2%20calls
module executable=1 path=/bin/a%25b
401136 18446744073709551615
401136 1
module build-id=00ff10 path=/lib/caf%c3%a9.so
0 1
7fffffffffff 2
overflow
end 10 00000000
END

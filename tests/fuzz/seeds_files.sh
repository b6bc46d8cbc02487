#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# seeds_files.sh FOLDER: writes the first inputs of the targets that take files and texts into FOLDER/NAME: small objects with
# symbols, DWARF of both compilers, a debug link; an object whose note and symbol lead to the root of fuzz_root.c.
set -euo pipefail
out=$1
mkdir -p "$out"/{names,root,texts,response}
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

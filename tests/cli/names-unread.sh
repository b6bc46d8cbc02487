#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debug information in all the forms that compilers and linkers give it is read; where it is not, that and what would help is said.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off

cat >prog.c <<'END'
static volatile long sum;
static inline __attribute__((always_inline)) void poke(long n) { if (n == 50) *(volatile int *)8 = 1; }
__attribute__((noinline)) void inner(long n)
{
	long twice = n * 2;
	sum += twice;
	poke(n);
}
__attribute__((noinline)) void outer(long n) { inner(n); sum++; }
int main(void) { for (long i = 0; i < 100; i++) outer(i); return 0; }
END
build() { "$BIN/epitaph-cc" -g -O1 prog.c "$@"; }
dies() { crash "core.$1" "$PWD/$1"; }
# The line of an inlined call and a variable are of .debug_line, and of .debug_info.
is_read() { # NAME [OPTIONS...]
	local name=$1
	shift
	gives 0 "$epitaph" report "$@" "core.$name"
	grep -qE '^in +#0 poke .*prog\.c:2' out && grep -q 'arg n = 50' out || { say "$name is not read:"; cat out; }
	hasnt out warnings
}
is_told() { # NAME WORDS: on the page, and by who shows lines
	"$epitaph" report "core.$1" >out 2>err || true
	grep -qE "$2" out || { say "$1: not said \"$2\":"; cat out; }
	has out '#0    inner'
}

build -o plain
dies plain
for form in zstd zlib zlib-gnu; do
	objcopy --compress-debug-sections=$form plain $form
	dies $form
	is_read $form
done
build -fuse-ld=mold -Wl,--compress-debug-sections=zstd -o mold
build -fuse-ld=gold -Wl,--compress-debug-sections=zlib-gnu -o gold
build -gdwarf64 -o wide
build -gdwarf-3 -gstrict-dwarf -o old
for program in mold gold wide old; do
	dies $program
	is_read $program
done
readelf -SW zstd >sections
grep -q 'debug_info .* C ' sections || say "objcopy compresses nothing"
readelf -SW gold >sections
grep -q zdebug_info sections || say "gold compresses nothing"
# A debug file, too.
cp plain apart
dies apart
objcopy --only-keep-debug apart apart.debug
objcopy --compress-debug-sections=zstd apart.debug
strip apart
objcopy --add-gnu-debuglink=apart.debug apart
is_read apart

# ---- not read ----
damage() { # FILE SECTION OFFSET BYTES: written over the section's
	python3 - "$@" <<'PYTHON'
import subprocess, sys
path, name, at, data = sys.argv[1], sys.argv[2], int(sys.argv[3]), bytes.fromhex(sys.argv[4])
for line in subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout.splitlines():
    words = line.replace("[ ", "[").split()
    if len(words) > 5 and words[1] == name:
        with open(path, "r+b") as file:
            file.seek(int(words[4], 16) + at)
            file.write(data)
        break
else:
    sys.exit("no section " + name)
PYTHON
}
cp zstd torn
damage torn .debug_info 24 00000000000000000000
dies torn
is_told torn 'compressed by zstd, and damaged'
cp plain future
damage future .debug_info 4 0900
dies future
is_told future 'DWARF 2 to 5'
build -gsplit-dwarf -o split
dies split
is_read split
rm ./*.dwo
is_told split 'its debug information is in .*\.dwo, which cannot be read'
# dwz moves to a common file what two have in common.
cat >>prog.c <<'END'
struct shop { struct shop *next; int (*open)(struct shop *, const char *); long prices[8]; char name[32]; };
union money { struct { unsigned pounds, shillings, pence; } old; double new_money; };
struct shop *shops;
union money till;
END
build -o one
build -DSECOND -o two
dies one
dwz -m common.dwz one two 2>/dev/null || true
if [ -f common.dwz ]; then
	is_read one
	rm common.dwz
	is_told one 'common\.dwz \(dwz\), which is not there'
else
	say "dwz finds nothing in common"
fi
exit $((failures > 0))

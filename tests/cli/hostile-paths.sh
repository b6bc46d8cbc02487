#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Names that a core, or a file that it names, chose lead to FIFOs: of modules, debug files, dwz's common file, split units, sources,
# the trace's own file. Nobody opens them: whoever waits to write into one waits on, and no command waits with it.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
writers=()
trap 'kill -9 "${writers[@]}" 2>/dev/null || true' EXIT

plant() { # PATH: a FIFO there, and one who waits until somebody reads it
	rm -f "$1" ready
	mkfifo "$1"
	python3 -c 'import os, sys
open("ready", "w")
os.close(os.open(sys.argv[1], os.O_WRONLY))
open("touched", "a").write(sys.argv[1] + "\n")' "$1" &
	writers+=($!)
	# It sleeps once only: in open().
	until [ -e ready ] && [ "$(cut -d ' ' -f 3 "/proc/$!/stat")" = S ]; do sleep 0.02; done
}

# none STATUS COMMAND...: it ends, and has opened none of them
none() {
	local got=0
	timeout 60 "${@:2}" >out 2>err || got=$?
	[ $got -le "$1" ] || { say "${*:2}: status $got"; head -20 err; }
	[ ! -e touched ] || { say "${*:2}: opened $(sort -u touched | tr '\n' ' ')"; rm touched; }
}

readers() { # CORE: all commands that look at files
	local command
	none 1 "$EPITAPH" info "$1"
	for command in report 'report --inlines --all' replay stats 'export -f viztracer --sources=.' 'diff core.whole'; do
		# shellcheck disable=SC2086
		none 1 "$EPITAPH" $command ${DEBUG:-} "$1"
	done
	none 1 "$EPITAPH" extract -q -o out.snap "$1"
}

mkdir lib
"$BIN/epitaph-c++" -g -O1 -fPIC -shared -Dmain=unused "$TOP/tests/programs/inlined.cc" -o lib/libshop.so
cat >main.cc <<'END'
#include <stdlib.h>
extern "C" int enter(int);
int main() { enter(3); abort(); }
END
"$BIN/epitaph-c++" -g -O1 main.cc -o shop -Llib -lshop -Wl,-rpath,"$PWD/lib"
export EPITAPH_MEMORY=2M
crash core.whole "$PWD/shop"
"$EPITAPH" report --inlines core.whole >out || true
grep -q inlined.cc out || { cat out; echo 'no lines of what is whole'; exit 1; }

# A module.
mv lib/libshop.so whole.so
plant lib/libshop.so
readers core.whole
mkdir -p "root$PWD/lib"
plant "root$PWD/lib/libshop.so"
none 1 "$EPITAPH" report --sysroot=root core.whole

# Its debug files, by link, by directory and by build-id; and its source.
id=$(readelf -n whole.so | sed -n 's/.*Build ID: //p')
objcopy --only-keep-debug whole.so shop.debug
rm lib/libshop.so
objcopy --strip-debug --strip-all --add-gnu-debuglink=shop.debug whole.so lib/libshop.so
rm shop.debug
mkdir -p lib/.debug "debug/.build-id/${id:0:2}" "debug$PWD/lib"
plant lib/shop.debug
plant lib/.debug/shop.debug
plant "debug$PWD/lib/shop.debug"
plant "debug/.build-id/${id:0:2}/${id:2}.debug"
plant "debug/.build-id/${id:0:2}/${id:2}"
plant main.cc
DEBUG=--debug-path=debug readers core.whole
none 3 "$EPITAPH" doctor ./lib/shop.debug

# What libdw opens by itself: dwz's common file, and split units.
cp whole.so lib/libshop.so
cp whole.so twin.so
(cd lib && dwz -m common.dwz libshop.so ../twin.so)
plant lib/common.dwz
readers core.whole
"$BIN/epitaph-c++" -gsplit-dwarf -O1 -fPIC -shared -Dmain=unused "$TOP/tests/programs/inlined.cc" -o lib/libshop.so
crash core.whole "$PWD/shop"
for dwo in *.dwo; do plant "$dwo"; done
[ -p "$dwo" ]
readers core.whole

# The file that holds the trace. (gdb by itself opens the files that were mapped, whatever they are: for it only the other name.)
EPITAPH_FILE=$PWD/arena crash core.file "$PWD/shop"
plant arena
plant arena.1
none 3 "$EPITAPH" report core.file
rm arena
timeout -k 1 60 gdb -nx -batch -x "$BUILD/gdb-ext/epitaph.py" -ex 'epitaph save x' -c core.file >out 2>&1 || true
[ ! -e touched ] || say "gdb opened $(cat touched)"
# Relative names, which would lead to what lies where the user happens to be.
python3 - core.file "$PWD" <<'END'
import sys
core, here = sys.argv[1:]
data = open(core, "rb").read()
for name in "/arena", "/lib/libshop.so", "/shop":
    old = (here + name).encode()
    data = data.replace(old, b"." + b"/" * (len(old) - len(name)) + name[1:].encode())
open("core.relative", "wb").write(data)
END
plant arena
plant lib/libshop.so
plant shop
grep -qa '\.//*arena' core.relative
none 3 "$EPITAPH" report core.relative
none 3 "$EPITAPH" extract -q -o out.snap core.relative
[ $failures -eq 0 ]

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program writes its own snapshot, by epitaph.h and by signal: gdb and eu-stack open it and show the frames that were
# there, however the program was linked.
set -euo pipefail
ulimit -c unlimited

names_in_order() { # WHAT FILE NAME...: the names stand in the text in this order
	local what=$1 file=$2 line last=0 name
	shift 2
	for name; do
		line=$(grep -nE "(^|[^A-Za-z0-9_])$name([^A-Za-z0-9_]|\$)" "$file" | cut -d: -f1 | awk -v last=$last '$1 > last' | head -n 1 || true)
		[ -n "$line" ] || { echo "$what: no $name after line $last of"; cat "$file"; exit 1; }
		last=$line
	done
}

frames() { # PROGRAM SNAPSHOT NAME...
	local program=$1 snapshot=$2
	shift 2
	gdb -nx -batch -iex 'set debug-file-directory /nonexistent' -ex bt "$program" "$snapshot" >gdb.out 2>&1
	grep '^#' gdb.out >gdb.frames
	names_in_order "gdb, $program" gdb.frames "$@"
	eu-stack -e "$program" --core "$snapshot" >eu.out 2>&1 || true
	names_in_order "eu-stack, $program" eu.out "$@"
}

build() { # NAME COMPILER ARGUMENTS...
	local name=$1 compiler=$2
	shift 2
	EPITAPH_CC=$compiler "$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/snapper.c" -o "$name" "$@"
}

build gcc-pie gcc -pie -fPIE
build gcc-nopie gcc -no-pie -fno-pie
build gcc-static gcc -static
build gcc-static-pie gcc -static-pie -fPIE
build gcc-shared gcc -epitaph-runtime=shared
build clang-pie clang
build stripped gcc
strip stripped

for program in gcc-pie gcc-nopie gcc-static gcc-static-pie gcc-shared clang-pie; do
	./$program write "$program.core" >out 2>err
	[ ! -s out ] && [ ! -s err ] || { cat out err; exit 1; }
	frames $program "$program.core" innermost middle main

	# By signal: the registers of the interrupted code, who goes on undisturbed.
	[ "$(EPITAPH_OUTPUT=$program.%p.%n ./$program signal)" = "went on, errno kept" ]
	frames $program $program.*.1 interrupted main
	rm $program.*.1

	# No request but a trap: the program dies of it as it would without us, with its siginfo.
	status=0
	(exec ./$program breakpoint) >out 2>&1 || status=$?
	[ $status -eq $((128 + 5)) ] || { echo "$program: breakpoint ended with $status"; cat out; exit 1; }
	core=$(find . -maxdepth 1 '(' -name core -o -name 'core.*' ')' | head -n 1)
	if [ -n "$core" ]; then
		gdb -nx -batch -iex 'set debug-file-directory /nonexistent' -ex 'p $_siginfo.si_code' -ex bt $program "$core" >gdb.out 2>&1
		grep -q '^\$1 = 128' gdb.out
		grep '^#0' gdb.out | grep -qw breakpoint
		rm -f core core.*
	fi
	[ -z "$(ls epitaph.* .epitaph.* 2>/dev/null)" ]
done

./stripped write stripped.core
gdb -nx -batch -ex 'info sharedlibrary' stripped stripped.core 2>&1 | grep -q 'libc\.so'

# The libraries are listed as in a full core.
gdb -nx -batch -ex 'info sharedlibrary' gcc-shared gcc-shared.core >gdb.out 2>&1
grep -q 'libepitaph\.so' gdb.out && grep -q 'libc\.so' gdb.out && grep -q 'ld-linux' gdb.out
eu-readelf -n gcc-pie.core >notes
for word in PRSTATUS PRPSINFO AUXV FILE EPITAPH; do grep -q $word notes; done

# From outside, many times; the program neither stops nor fails.
EPITAPH_OUTPUT=many.%n EPITAPH_SIGNAL=USR1 ./gcc-pie spin >ready &
pid=$!
until grep -q ready ready; do sleep 0.02; done
for number in 1 2 3; do
	kill -USR1 $pid
	until [ -e many.$number ]; do sleep 0.02; done
done
kill -TERM $pid
wait $pid
frames gcc-pie many.3 spin main

# Settings of the signal.
status=0
(EPITAPH_SIGNAL=none exec ./gcc-pie signal) >out 2>&1 || status=$?
[ $status -eq 133 ]
rm -f core core.*
[ "$(EPITAPH_OUTPUT=/no/such/%p ./gcc-pie signal 2>err)" = "went on, errno kept" ]
grep -qx 'epitaph: no snapshot: error 2' err
mkfifo pipe
[ "$(EPITAPH_OUTPUT=pipe ./gcc-pie signal 2>err)" = "went on, errno kept" ]
grep -q 'no snapshot: .* no regular file' err
[ -p pipe ]

# The program's own disposition wins, also one that it inherited.
(trap '' TRAP; [ "$(EPITAPH_OUTPUT=none.%n ./gcc-pie signal)" = "went on, errno kept" ])
[ ! -e none.1 ]

# A full disk leaves nothing behind.
if mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
	status=0
	./gcc-pie write small/x 2>err || status=$?
	left=$(ls -A small)
	umount small
	[ $status -eq 1 ] && [ -z "$left" ] && grep -q 'No space left' err
fi
echo good

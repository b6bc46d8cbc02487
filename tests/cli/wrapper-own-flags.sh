#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Flags by which a program instruments itself keep their meaning, and its calls are recorded, each once: functions of its own named
# __cyg_profile_func_*, gprof's calls, sleds, room for patches. What the wrapper then does otherwise it says.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >hooks.c <<'SRC'
#define OFF __attribute__((no_instrument_function))
#ifdef MARKED
#define HOOK OFF
#else
#define HOOK
#endif
long entered, left;
HOOK void __cyg_profile_func_enter(void *f, void *c);
HOOK void __cyg_profile_func_exit(void *f, void *c);
HOOK void __cyg_profile_func_enter(void *f, void *c) { entered += f != c; }
HOOK void __cyg_profile_func_exit(void *f, void *c) { left += f != c; }
SRC
cat >calls.c <<'SRC'
#include <stdio.h>
#include <sys/mman.h>
static volatile long sum;
#ifdef MARKED
#include "hooks.c"
#elif defined(APART)
#define OFF __attribute__((no_instrument_function))
extern long entered, left;
#else
#define OFF __attribute__((no_instrument_function))
static long entered, left;
#endif
__attribute__((noinline)) void leaf(long n) { sum += n; }
__attribute__((noinline)) void serve(long n) { leaf(n); sum++; }
OFF int main(int n, char **v)
{
	for (long i = 0; i < 100; i++)
		serve(i);
	printf("%ld %ld\n", entered, left);
	fflush(stdout);
	if (n > 1)
		*(volatile int *)8 = (v != NULL);
	return 0;
}
SRC

# same COMPILER METHOD FLAGS...: the program says what it says untraced, with gmon.out if it had one, and leaf was called 100 times
same() {
	local cc=$1 method=$2 plain traced count
	shift 2
	rm -f gmon.out
	"$cc" -g -O1 "$@" -o plain
	plain=$(./plain)
	[ ! -e gmon.out ] || plain+=$(gprof -b -p plain gmon.out | awk '$NF ~ /leaf|serve/ { printf " %s %s", $4, $NF }')
	rm -f gmon.out
	EPITAPH_CC=$cc "$BIN/epitaph-cc" $method -g -O1 "$@" -o program 2>said || { say "$cc $method $*: no program"; cat said; return 0; }
	traced=$(./program)
	[ ! -e gmon.out ] || traced+=$(gprof -b -p program gmon.out | awk '$NF ~ /leaf|serve/ { printf " %s %s", $4, $NF }')
	[ "$plain" = "$traced" ] || say "$cc $method $*: untraced it says $plain, traced $traced"
	EPITAPH_MEMORY=4M crash core "$PWD/program" die
	count=$("$EPITAPH" stats core 2>/dev/null | awk '$NF == "leaf" { print $1 }')
	[ "$count" = 100 ] || say "$cc $method $*: $count calls of leaf"
}
says() { # WORDS: the wrapper did
	has said "$1"
}

for method in '' -epitaph-method=finstrument; do
	same gcc "$method" -DMARKED -finstrument-functions calls.c
	same gcc "$method" -DMARKED calls.c
	same gcc "$method" -finstrument-functions calls.c
	same gcc "$method" -pg calls.c
done
for method in '' -epitaph-method=finstrument -epitaph-method=xray; do
	same clang "$method" -DMARKED -finstrument-functions calls.c
	same clang "$method" -DMARKED calls.c
	same clang "$method" -finstrument-functions calls.c
done
same gcc '' -static -DMARKED -finstrument-functions calls.c
same clang '' -pg calls.c
same gcc '' -p calls.c
same gcc -epitaph-method=pg -pg calls.c
says '-pg is the program'
same gcc '' -minstrument-return=nop5 calls.c
same gcc '' -no-pie -fno-pie -mnop-mcount calls.c
same gcc '' -fpatchable-function-entry=4,2 calls.c
same clang '' -Xclang -fxray-instrument -Xclang -fxray-instruction-threshold=1 calls.c
same clang -epitaph-method=xray -Xclang -fxray-instrument -Xclang -fxray-instruction-threshold=1 calls.c

# gcc's own __fentry__ of -pg -mfentry counts otherwise than mcount; the file is there.
rm -f gmon.out
"$BIN/epitaph-cc" -O1 -pg -mfentry calls.c -o program 2>said && ./program >/dev/null
[ -e gmon.out ] || say "-pg -mfentry: no gmon.out"
says '-mfentry: __fentry__ is a hook'

# Hooks in a file of their own, which has not the flag and is traced.
for cc in gcc clang; do
	export EPITAPH_CC=$cc
	"$BIN/epitaph-cc" -g -O1 -c hooks.c -o hooks.o
	"$BIN/epitaph-cc" -g -O1 -DAPART -finstrument-functions -c calls.c -o calls.o
	"$BIN/epitaph-cc" -g -O1 hooks.o calls.o -o program
	[ "$(./program)" = '200 200' ] || say "$cc, hooks apart: $(./program)"
	# … and in a library, whose own calls they count as well.
	"$BIN/epitaph-cc" -O1 -fPIC -shared -Dmain=run -DAPART -finstrument-functions calls.c -o libcalls.so
	echo 'int run(int n, char **v); __attribute__((no_instrument_function)) int main(int n, char **v) { return run(n, v); }' >main.c
	"$BIN/epitaph-cc" -O1 -rdynamic main.c hooks.o ./libcalls.so -o program 2>err || { say "$cc, a library: no program"; cat err; }
	[ "$(./program)" = '200 200' ] || say "$cc, hooks apart of a library: $(./program)"
done
unset EPITAPH_CC

# Nothing is left for the trace: it is said.
"$BIN/epitaph-cc" -O1 -pg -finstrument-functions calls.c -o program 2>said
says 'no other method is free'
"$BIN/epitaph-cc" -O1 -fpatchable-function-entry=1 -c calls.c 2>said
says '-fpatchable-function-entry=1'
exit $((failures != 0))

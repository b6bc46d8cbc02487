#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Wherever a program stops in a hook, whoever unwinds by the files' own information finds the whole stack: stepper.c goes
# through every instruction of the hooks, the fast way, the timed one, the slow one, into another block and back, and at each
# libdw must name the caller of every frame, whatever the traced function had pushed and popped before.
set -euo pipefail
gcc -O1 -D_GNU_SOURCE "$TOP/tests/programs/stepper.c" -o stepper -ldw -lelf

cat >hooked.c <<'SRC'
#include <dlfcn.h>
#include <epitaph.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "runtime/format.h"
#define KEPT __attribute__((noinline, noclone))
static volatile int sink, times;
static volatile unsigned long *word; /* rseq_cs, of a thread that the kernel does not know */
KEPT int leaf(int x) { sink += x; return sink; }
KEPT int room(int x) { volatile int here[20]; here[x & 7] = x; return here[x & 3]; }
KEPT int keeping(int a, int b, int c, int d)
{
	int e = leaf(a), f = leaf(b) + e, g = leaf(c) + f, h = leaf(d) + g;
	return leaf(e) + leaf(f) + leaf(g) * a + h * b + c + d;
}
KEPT int tail(int x) { return leaf(x + 1); }
KEPT int deep(int x) { return x ? deep(x - 1) + leaf(x) : room(x); }
KEPT double several(int n, ...)
{
	va_list list;
	double sum = 0;

	va_start(list, n);
	while (n--)
		sum += va_arg(list, double);
	va_end(list);
	return sum + leaf(n);
}
KEPT int pushing(int n)
{
	char bytes[n * 16];

	bytes[leaf(n) & 3] = 1;
	return bytes[leaf(n) & 3];
}
KEPT void run(void)
{
	sink = keeping(1, 2, 3, 4) + tail(5) + deep(3) + (int)several(2, 1.5, 2.5) + pushing(3);
	for (int i = 0; i < times; i++) {
		/* As if it had waited: the call is timed, and its return. */
		if (word && i % 16 == 0)
			*word = 0;
		leaf(i);
	}
	sink += keeping(4, 3, 2, 1);
}
KEPT void inside(void)
{
	run();
	sink++;
}
int main(void)
{
	times = getenv("BLOCK") ? 256 : getenv("UNASKED") ? 64 : 20; /* of 508 records */
#ifndef LIBRARY
	/* Each step is a signal, after which the kernel asks for a time; a thread that is not registered it leaves alone. */
	if (getenv("UNASKED")) {
		struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);

		if (syscall(SYS_rseq, area, 32, 1, RSEQ_SIG))
			return 1;
		word = (volatile unsigned long *)&area->rseq_cs;
	}
	if (getenv("PAUSE"))
		epitaph_pause();
	/* As `epitaph control PID off` does: hooks that run go off in the code. */
	if (getenv("OFF")) {
		struct ep_root *root = dlsym(RTLD_DEFAULT, "epitaph_root");

		((struct ep_arena *)root->arena_address)->gate |= EP_GATE_OFF | EP_GATE_FLIP;
	}
#endif
	/* One record more before all others: a call is at a place where a return is without. */
	getenv("INSIDE") ? inside() : run();
	return 0;
}
SRC

build() { # COMPILER METHOD FLAGS...
	what="$*"
	EPITAPH_CC=$1 "$BIN/epitaph-cc" "-epitaph-method=$2" "${@:3}" -w -D_GNU_SOURCE -I"$TOP" hooked.c -o hooked
}
steps() { # SETTING...
	EPITAPH_SCHED=off EPITAPH_LOOKS=off EPITAPH_RING=16K env "$@" ./stepper ./hooked '*' met >out || { echo "$what, $*:" && cat out && exit 1; }
	grep -Eq '^[1-9][0-9]{2,} instructions, 0 wrong$' out || { echo "$what, $*:" && cat out && exit 1; }
}
# all_of FILE HOOK...: each of their instructions was stepped on
all_of() {
	local file=$1 hook from at
	shift
	for hook; do
		from=
		while read -r at _; do
			from=${from:-$at}
			printf '%s %x\n' "$hook" $((16#$at - 16#$from))
		done < <(objdump -d --no-show-raw-insn --disassemble="${symbols:-}$hook" "$file" | sed -nE 's/^ +([0-9a-f]+):/\1/p')
	done | sort -u >wanted
	sed 's/^epitaph_//; s/_leave /_exit /' met | sort -u >met.sorted
	[ "$(wc -l <wanted)" -gt 100 ] && [ -z "$(comm -23 wanted met.sorted)" ] ||
		{ echo "$what: not stepped on, of $(wc -l <wanted):" && comm -23 wanted met.sorted && exit 1; }
	rm met
}

pg=(__fentry__ __return__ slow_at_entry slow_at_return)
sleds=(__xray_entry__ __xray_return__)
cyg=(__cyg_profile_func_enter __cyg_profile_func_exit)
every() { # HOOK...: each way through them
	steps EPITAPH_TIMESTAMP_EVERY=8 BLOCK=1
	steps UNASKED=1 EPITAPH_TIMESTAMP_EVERY=64 BLOCK=1
	steps UNASKED=1 EPITAPH_TIMESTAMP_EVERY=64 INSIDE=1
	steps UNASKED=1 EPITAPH_TIMESTAMP_EVERY=1
	steps PAUSE=1
	steps OFF=1
	steps EPITAPH=off
	steps EPITAPH_MODE=count
	all_of "$library" "$@"
}
for flags in '-O0' '-O2 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086
	build gcc pg $flags
	steps EPITAPH_TIMESTAMP_EVERY=8 BLOCK=1
done
build clang after-inlining -O1
steps EPITAPH_TIMESTAMP_EVERY=8
# Through stubs: hooks that wait for thread-local memory, and those of a library in a program that has no runtime.
build gcc pg -O1 -static
steps EPITAPH_TIMESTAMP_EVERY=8
grep -q '^__wrap___return__ ' met || { echo "no stub was stepped on" && exit 1; }
what='gcc pg, a library' && rm met
"$BIN/epitaph-cc" -O0 -w -D_GNU_SOURCE -I"$TOP" -fPIC -shared -Dmain=unused -Drun=calls -DLIBRARY hooked.c -o libhooked.so
echo 'void calls(void); void run(void) { calls(); } int main(void) { run(); return 0; }' >host.c
gcc host.c ./libhooked.so -Wl,-z,now -o hooked
steps EPITAPH=on
rm met

library=hooked
build gcc pg -O2
every "${pg[@]}"
build gcc finstrument -O2
every "${cyg[@]}"
for flags in '-O0' '-O2 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086
	build clang xray $flags
	steps EPITAPH_TIMESTAMP_EVERY=8 BLOCK=1
	rm met
done
symbols=epitaph_
build clang xray -O2
every "${sleds[@]}"
library=$BUILD/lib/libepitaph.so
build clang xray -O1 -epitaph-runtime=shared
every "${sleds[@]}"
symbols=
build gcc pg -O1 -epitaph-runtime=shared
every "${pg[@]}"
build clang finstrument -O0 -epitaph-runtime=shared
every "${cyg[@]}"

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Functions without their hooks still unwind: tests/programs/stepper.c runs them one instruction at a time, and at each libdw
# must name the caller of every frame. With each compiler, method and level; and all programs print what they print untraced.
# timeout: 600
# nothing crashes
set -euo pipefail
source "$TOP/tests/cli/lib/filter.bash"
gcc -O1 -D_GNU_SOURCE "$TOP/tests/programs/stepper.c" -o stepper -ldw -lelf

cat >f.c <<'SRC'
#include <stdarg.h>
#define KEEP __attribute__((noinline))
struct large { long a[5]; };
KEEP int f_leaf(int x) { return x * 3 + 1; }
KEEP void f_empty(void) { __asm__ volatile("# call __fentry__"); }
KEEP int f_tail(int x) { return f_leaf(x + 1); }
KEEP void f_void_tail(int *x) { *x = f_leaf(*x); f_empty(); }
KEEP double f_double(double x, int n) { return x * n + f_leaf(n); }
KEEP __int128 f_wide(__int128 x) { return x * 7 + f_leaf(2); }
KEEP struct large f_large(int x) { struct large l = {{x, f_leaf(x), x, 4, 5}}; return l; }
KEEP int f_va(int n, ...)
{
	va_list list;
	int sum = 0;

	va_start(list, n);
	while (n--)
		sum += f_leaf((int)va_arg(list, double));
	va_end(list);
	return sum;
}
KEEP int f_switch(int x)
{
	switch (x) {
	case 0: return f_leaf(7);
	case 1: return f_tail(5) + 1;
	case 2: return 77;
	case 3: f_empty(); return 3;
	case 4: return f_leaf(1) * f_leaf(2);
	case 5: return f_leaf(9) - 4;
	default: return x;
	}
}
KEEP int f_cold(int x)
{
	if (__builtin_expect(x > 5, 0)) {
		f_empty();
		return f_leaf(x) + f_leaf(x + 1) + f_switch(x);
	}
	return f_leaf(x);
}
KEEP int f_stack(int n)
{
	char *bytes = __builtin_alloca(n);

	for (int i = 0; i < n; i++)
		bytes[i] = (char)f_leaf(i);
	return bytes[n - 1] + f_leaf(bytes[0]);
}
KEEP int f_many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	int s = f_leaf(a) + f_leaf(b) * f_leaf(c) - f_leaf(d);

	return s + f_leaf(e + f) * f_leaf(g) + f_leaf(h) + a + b + c + d + e + f + g + h;
}
KEEP int f_pointer(int (*f)(int), int x) { return f(x) + 1; }
KEEP int f_pointer_tail(int (*f)(int), int x) { return f(x); }
static inline int f_inlined(int x) { return f_leaf(x) + 7; }
KEEP int f_outer(int x) { return f_inlined(x) * f_inlined(x + 1); }
KEEP int f_recursive(int n) { return n ? f_recursive(n - 1) + f_leaf(n) : 0; }
#ifdef NESTED
KEEP int f_nested(int x)
{
	int y = x;
	KEEP int inner(int z) { return z + y + f_leaf(y); }
	return f_pointer(inner, 3) + inner(4);
}
#else
#define f_nested(x) f_leaf(x)
#endif
KEEP long run(void);
long run(void)
{
	int x = 4;
	long sum = f_tail(3) + f_cold(2) + f_cold(6) + f_stack(5) + (long)f_double(2.5, 3) + (long)f_wide(5) + f_outer(2);

	f_void_tail(&x);
	for (int i = 0; i < 7; i++)
		sum += f_switch(i) + x;
	return sum + f_large(3).a[1] + f_va(2, 1.5, 2.5) + f_many(1, 2, 3, 4, 5, 6, 7, 8) + f_pointer(f_leaf, 3) +
	       f_pointer_tail(f_tail, 2) + f_recursive(4) + f_nested(5);
}
SRC
cat >main.c <<'SRC'
#include <stdio.h>
long run(void);
int main(void) { return printf("%ld\n", run()) < 0; }
SRC
cat >throws.cc <<'SRC'
#include <cstdio>
#include <stdexcept>
#include <vector>
struct Guard { ~Guard() { std::puts("unwound"); } };
static int at(const std::vector<int> &v, std::size_t i)
{
	Guard guard;
	return v.at(i);
}
int main()
{
	std::vector<int> v{ 1, 2, 3 };
	int caught = 0;
	for (std::size_t i = 0; i < 5; i++) {
		try {
			std::printf("%d\n", at(v, i));
		} catch (const std::out_of_range &) {
			try {
				throw ++caught;
			} catch (int &n) {
				std::printf("caught %d\n", n);
			}
		}
	}
	return caught;
}
SRC
# Every second function, so that those with hooks and those without call each other.
echo 'f_leaf f_void_tail f_wide f_va f_cold f_many f_pointer_tail f_recursive f_nested run' >half

bad() { echo "$compiler $method -$level $extra $*"; cat out; exit 1; }
steps() { # WHAT: ./prog prints what it should, and unwinds
	./prog >out && cmp -s out want || bad "$1 prints:"
	./stepper ./prog '@(run|f_*|inner*)' >out || bad "$1:"
	grep -Eq '^[1-9][0-9]{2,} instructions, 0 wrong$' out || bad "$1:"
}
# gcc's own unwind table is wrong where it saves r10 around the hook of a nested function; without the hook it is right.
unwinds() {
	local nested=
	[[ $compiler == gcc* ]] && nested=-DNESTED
	# shellcheck disable=SC2086
	set -- "-epitaph-method=$method" "-$level" $extra $nested -w f.c main.c -o prog
	"$compiler" "-$level" -w $nested f.c main.c -o plain && ./plain >want
	"$wrapper" "$@" -epitaph-instr-thresh=9999 -epitaph-ignore-loops
	[ "$(objdump -d prog | awk '/^[0-9a-f]+ </ { in_f = /<(f_.*|run|inner.*)>:/ } in_f' | grep -Ec '(__fentry__|__return__|__cyg_profile)')" = 0 ] ||
		{ : >out; bad "keeps hooks"; }
	steps "all filtered"
	"$wrapper" "$@" -epitaph-no-trace=half
	[ -n "$nested" ] && [ "$method" = pg ] || steps "half filtered"
}
catches() {
	local status=0
	# shellcheck disable=SC2086
	"${compiler/gcc/g++}" -x c++ "-$level" throws.cc -lstdc++ -o plain && { ./plain >want || [ $? -eq 2 ]; }
	# shellcheck disable=SC2086
	"$wrapperxx" "-epitaph-method=$method" "-$level" $extra throws.cc -o prog -epitaph-instr-thresh=9999 -epitaph-ignore-loops
	./prog >out || status=$?
	[ $status -eq 2 ] && cmp -s out want || bad "catches, status $status:"
}
extra=
# FILTER_ALL=1: with every clang that is there, and at the levels between.
LEVELS="O0 O2 ${FILTER_ALL:+O1 O3}" each_build unwinds
extra="-g -fPIC -fno-plt -fcf-protection -fno-omit-frame-pointer -ffunction-sections"
LEVELS=Os each_build unwinds
extra=
LEVELS=O2 each_build catches

# The stepper sees what is wrong: a directive too few.
gcc -O1 -w -fno-pie -S f.c main.c
awk '/^f_many:/ { f = 1 } f && /cfi_def_cfa_offset/ && ++n == 2 { next } { print }' f.s >broken.s
gcc -no-pie broken.s main.s -o broken
if ./stepper ./broken '@(run|f_*)' >out; then
	echo "the stepper found nothing wrong with a broken table" && exit 1
fi
grep -q ' in f_' out

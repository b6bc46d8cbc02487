/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registers.c: passes and returns values of every class of the psABI (AMD64,
 * 3.2.3) through traced functions, N times each, and compares each with what
 * was sent. A hook that changes a register that it must keep shows up as a wrong value, or as a
 * crash. `registers [N]`; exit status 1: something changed. Also errno, the direction flag and the
 * x87 stack are watched.
 *
 * Nothing inlines and no argument is a constant, so every value travels in the place that the ABI
 * gives it.
 */
#include <alloca.h>
#include <complex.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TRACED     __attribute__((noinline, noclone))
#define NOT_TRACED __attribute__((no_instrument_function))
#ifdef __clang__
#undef TRACED
#define TRACED __attribute__((noinline))
#endif

static unsigned long wrong;

#define EXPECT(name, condition)                                              \
	do {                                                                 \
		if (!(condition)) {                                          \
			if (wrong++ < 10)                                    \
				fprintf(stderr, "round %lu: %s\n", n, name); \
		}                                                            \
	} while (0)

typedef struct {
	long a, b;
} two_longs; /* rax and rdx */
typedef struct {
	double a, b;
} two_doubles; /* xmm0 and xmm1 */
typedef struct {
	double a;
	long b;
} mixed; /* xmm0 and rax */
typedef struct {
	long a;
	float b, c;
} mixed2; /* rax and xmm0 */
typedef struct {
	long a[5];
} in_memory; /* through a hidden pointer, which comes back in rax */
typedef struct {
	char bytes[3];
} small;
typedef long vector2 __attribute__((vector_size(16)));

/* ---- integers ------------------------------------------------------------ */

TRACED long six(long a, int b, short c, signed char d, unsigned e, long f)
{
	return a + 2 * b + 3 * c + 5 * d + 7 * (long)e + 11 * f;
}

TRACED long ten(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	return a ^ b << 1 ^ c << 2 ^ d << 3 ^ e << 4 ^ f << 5 ^ g << 6 ^ h << 7 ^ i << 8 ^ j << 9;
}

TRACED __int128 wide(__int128 a, long b)
{
	return a * 3 + b;
}

TRACED _Bool truth(long a)
{
	return a & 1;
}

TRACED int narrow(unsigned char a, unsigned short b)
{
	return a * 65536 + b;
}

/* ---- floating point ------------------------------------------------------ */

TRACED double eight_doubles(double a, double b, double c, double d, double e, double f, double g,
			    double h, double i)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

TRACED float floats(float a, double b, float c)
{
	return a * 4 + (float)b * 2 + c;
}

TRACED long double extended(long double a, long double b)
{
	return a * 3 - b;
}

TRACED double complex complex_double(double complex a, double complex b)
{
	return a + 2 * b;
}

TRACED float complex complex_float(float complex a)
{
	return a * 2;
}

TRACED long double complex complex_extended(long double complex a)
{
	return a * 2; /* comes back in st0 and st1 */
}

/* ---- structures ---------------------------------------------------------- */

TRACED two_longs pair_of_longs(two_longs a, long b)
{
	return (two_longs){a.a + b, a.b - b};
}

TRACED two_doubles pair_of_doubles(two_doubles a)
{
	return (two_doubles){a.b, a.a};
}

TRACED mixed mix(mixed a, double b)
{
	return (mixed){a.a + b, a.b + (long)b};
}

TRACED mixed2 mix2(mixed2 a)
{
	return (mixed2){a.a + 1, a.c, a.b};
}

TRACED in_memory big(in_memory a, long b)
{
	for (int i = 0; i < 5; i++)
		a.a[i] += b + i;
	return a;
}

TRACED small tiny(small a)
{
	a.bytes[1]++;
	return a;
}

TRACED vector2 vectors(vector2 a, vector2 b)
{
	return a + b * 3;
}

#ifdef __SSE2__
TRACED __m128d sse(__m128d a, __m128i b, __m128 c)
{
	return _mm_add_pd(_mm_add_pd(a, _mm_cvtepi32_pd(b)), _mm_cvtps_pd(c));
}
#endif

/* ---- variadic: al counts the vector registers in use --------------------- */

TRACED double sum_of(const char *kinds, ...)
{
	double sum = 0;
	va_list list;

	va_start(list, kinds);
	for (int i = 1; *kinds; kinds++, i++)
		sum += i * (*kinds == 'd'   ? va_arg(list, double)
			    : *kinds == 'L' ? (double)va_arg(list, long double)
					    : (double)va_arg(list, long));
	va_end(list);
	return sum;
}

/* ---- calls that end in a jump -------------------------------------------- */

typedef long (*long_fn)(long, long);

TRACED long leaf_add(long a, long b)
{
	return a + b;
}

TRACED long leaf_mul(long a, long b)
{
	return a * b;
}

TRACED long tail(long a, long b)
{
	return leaf_add(a * 2, b);
}

TRACED long tail_indirect(long_fn function, long a, long b)
{
	return function(a, b);
}

TRACED long tail_of_seven(long a, long b, long c, long d, long e, long f, long_fn function)
{
	(void)c, (void)d, (void)e, (void)f;
	return function(a, b);
}

TRACED long deep(long n)
{
	return n < 2 ? 1 : deep(n - 1) + deep(n - 2);
}

TRACED long with_alloca(long n)
{
	char *bytes = alloca((size_t)(n % 200) + 16);

	memset(bytes, (int)n, (size_t)(n % 200) + 16);
	return bytes[n % 16];
}

/* ---- nested functions: the static chain travels in r10 -------------------- */

#ifndef __clang__
TRACED long apply(long (*function)(long), long a)
{
	return function(a);
}

TRACED long nested(long a, long b)
{
	__attribute__((noinline)) long inner(long c)
	{
		return a * c + b;
	}
	return apply(inner, a + 1) + inner(b);
}
#endif

/* ---- the rounds ------------------------------------------------------------ */

NOT_TRACED static void integers(unsigned long n)
{
	long a = (long)n, b = -a, c = a * 7 % 32000, d = a % 100;
	__int128 w = ((__int128)a << 64) | (unsigned long)b;

	EXPECT("six", six(a, (int)b, (short)c, (signed char)d, (unsigned)a, b) ==
			      a + 2L * (int)b + 3L * (short)c + 5 * d + 7L * (unsigned)a + 11 * b);
	EXPECT("ten",
	       ten(a, b, c, d, a, b, c, d, a, b) == (a ^ b << 1 ^ c << 2 ^ d << 3 ^ a << 4 ^
						     b << 5 ^ c << 6 ^ d << 7 ^ a << 8 ^ b << 9));
	EXPECT("wide", wide(w, a) == w * 3 + a);
	EXPECT("truth", truth(a) == (a & 1));
	EXPECT("narrow", narrow((unsigned char)n, (unsigned short)n) ==
				 (int)(n & 255) * 65536 + (int)(n & 65535));
}

NOT_TRACED static void floating(unsigned long n)
{
	double a = (double)(n % 1000), b = a / 4, c = -a, d = a + 0.5;
	double complex z = a + b * I, y = c + d * I;
	float complex x = (float)a + (float)b * I;
	long double complex v = (long double)a + (long double)d * I;

	EXPECT("eight_doubles",
	       eight_doubles(a, b, c, d, a, b, c, d, a) ==
		       a + 2 * b + 3 * c + 4 * d + 5 * a + 6 * b + 7 * c + 8 * d + 9 * a);
	EXPECT("floats", floats((float)a, b, (float)c) == (float)a * 4 + (float)b * 2 + (float)c);
	EXPECT("extended", extended(a, (long double)b) == (long double)a * 3 - (long double)b);
	EXPECT("complex_double", complex_double(z, y) == z + 2 * y);
	EXPECT("complex_float", complex_float(x) == x * 2);
	EXPECT("complex_extended", complex_extended(v) == v * 2);
}

NOT_TRACED static void structures(unsigned long n)
{
	long a = (long)n;
	double f = (double)(n % 1000);
	two_longs p = pair_of_longs((two_longs){a, -a}, 3);
	two_doubles q = pair_of_doubles((two_doubles){f, f + 1});
	mixed m = mix((mixed){f, a}, f);
	mixed2 k = mix2((mixed2){a, (float)f, (float)f + 1});
	in_memory g = big((in_memory){{a, a, a, a, a}}, 2);
	small s = tiny((small){{1, (char)n, 3}});
	vector2 v = vectors((vector2){a, a + 1}, (vector2){2, 3});

	EXPECT("pair_of_longs", p.a == a + 3 && p.b == -a - 3);
	EXPECT("pair_of_doubles", q.a == f + 1 && q.b == f);
	EXPECT("mix", m.a == f + f && m.b == a + (long)f);
	EXPECT("mix2", k.a == a + 1 && k.b == (float)f + 1 && k.c == (float)f);
	EXPECT("big", g.a[0] == a + 2 && g.a[4] == a + 6);
	EXPECT("tiny", s.bytes[0] == 1 && s.bytes[1] == (char)(n + 1) && s.bytes[2] == 3);
	EXPECT("vectors", v[0] == a + 6 && v[1] == a + 10);
#ifdef __SSE2__
	__m128d r = sse(_mm_set_pd(f, f + 1), _mm_set_epi32(0, 0, 2, 3), _mm_set_ps(0, 0, 4, 5));
	EXPECT("sse", r[0] == f + 9 && r[1] == f + 6);
#endif
}

NOT_TRACED static void calls(unsigned long n)
{
	long a = (long)(n % 100000), b = a + 3;
	double f = (double)(n % 1000);

	EXPECT("sum_of", sum_of("dldLdddddddl", f, a, f, (long double)f, f, f, f, f, f, f, f, a) ==
				 f * (78 - 2 - 12) + (double)a * 14);
	EXPECT("sum_of integers", sum_of("ll", a, b) == (double)(a + 2 * b));
	EXPECT("tail", tail(a, b) == a * 2 + b);
	EXPECT("tail_indirect",
	       tail_indirect(n & 1 ? leaf_add : leaf_mul, a, b) == (n & 1 ? a + b : a * b));
	EXPECT("tail_of_seven", tail_of_seven(a, b, 1, 2, 3, 4, leaf_mul) == a * b);
	EXPECT("deep", deep(7) == 21);
	EXPECT("with_alloca", with_alloca(a) == (char)a);
#ifndef __clang__
	EXPECT("nested", nested(a, b) == a * (a + 1) + b + a * b + b);
#endif
}

NOT_TRACED static void surroundings(unsigned long n)
{
	unsigned long flags;
	unsigned short x87;

	EXPECT("errno", errno == 4711);
	__asm__ volatile("pushfq; popq %0" : "=r"(flags));
	EXPECT("direction flag", !(flags & 0x400));
	__asm__ volatile("fnstsw %0" : "=am"(x87));
	EXPECT("x87 stack", (x87 >> 11 & 7) == 0);
}

NOT_TRACED int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 100000;

	errno = 4711;
	for (unsigned long n = 1; n <= rounds; n++) {
		integers(n);
		floating(n);
		structures(n);
		calls(n);
		surroundings(n);
	}
	if (wrong)
		fprintf(stderr, "%lu values changed on their way\n", wrong);
	return wrong != 0;
}

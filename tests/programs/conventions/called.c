/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * called.c: one function of each calling convention that the compiler has. Compiled twice, with
 * PART as plain and as traced; caller.c calls both with the same registers. NAME() makes their
 * names.
 */
#define JOIN(a, b) a##_##b
#define WITH(a, b) JOIN(a, b)
#define NAME(name) WITH(PART, name)
#define KEPT       __attribute__((noinline, noclone))
#ifdef __clang__
#undef KEPT
#define KEPT __attribute__((noinline))
#endif

/* What a call does is seen here too. */
static volatile long calls;
static long quiet;

struct sink {
	long words[4];
};

KEPT long NAME(leaf)(long a)
{
	calls += a;
	return calls;
}

/* ---- as the psABI has it ---- */

KEPT long NAME(sysv)(long a, long b, long c, long d, long e, long f, double x, double y)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + (long)(x * y) + NAME(leaf)(a);
}

KEPT double NAME(doubles)(double a, double b, double c, double d, double e, double f, double g,
			  double h)
{
	return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8;
}

/* A tail call, all arguments live. */
KEPT double NAME(tail)(double a, double b, double c, double d, double e, double f, double g,
		       double h)
{
	return NAME(doubles)(b, a, d, c, f, e, h, g);
}

typedef long (*long_fn)(long, long, long, long, long, long);
KEPT long NAME(last)(long a, long b, long c, long d, long e, long f)
{
	return a ^ b << 8 ^ c << 16 ^ d << 24 ^ e << 32 ^ f << 40;
}
static long_fn volatile target = NAME(last);
KEPT long NAME(indirect)(long a, long b, long c, long d, long e, long f)
{
	return target(f, e, d, c, b, a);
}

KEPT void NAME(nothing)(void) {}
KEPT void NAME(counts)(long a)
{
	quiet += a;
}

/* ---- Microsoft's ---- */

__attribute__((ms_abi)) KEPT long NAME(ms)(long a, long b)
{
	calls++;
	return a + b;
}

__attribute__((ms_abi)) KEPT double NAME(ms_doubles)(double a, double b, double c, double d,
						     double e)
{
	return a * 2 + b * 3 + c * 5 + d * 7 + e;
}

__attribute__((ms_abi)) KEPT double NAME(ms_tail)(double a, double b, double c, double d, double e)
{
	return NAME(ms_doubles)(d, c, b, a, e);
}

/* Calls one that may change what it must keep. */
__attribute__((ms_abi)) KEPT long NAME(ms_calls)(long a, long b, long c, long d)
{
	return NAME(leaf)(a + b) + NAME(sysv)(a, b, c, d, a, b, 1.5, 2.0);
}

__attribute__((ms_abi)) KEPT void NAME(ms_counts)(long a)
{
	quiet += a;
}

/* ---- clang's ---- */

#ifdef __clang__
__attribute__((preserve_most)) KEPT void NAME(most)(long a, long b)
{
	calls += a * b;
}
__attribute__((preserve_most)) KEPT void NAME(most_calls)(long a, long b)
{
	calls += NAME(leaf)(a) * b;
}
__attribute__((preserve_all)) KEPT void NAME(all)(long a, long b)
{
	calls += a - b;
}
__attribute__((preserve_all)) KEPT void NAME(all_calls)(long a, long b)
{
	calls += NAME(leaf)(a) - b;
}
__attribute__((regcall)) KEPT long NAME(reg)(long a, long b, long c, long d, long e, long f, long g,
					     long h, long i, long j, long k)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k;
}
__attribute__((regcall)) KEPT double NAME(reg_doubles)(double a, double b, double c, double d,
						       double e, double f, double g, double h,
						       double i, double j, double k, double l)
{
	calls++;
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
	       12 * l;
}
__attribute__((vectorcall)) KEPT double NAME(vector)(double a, double b, double c, double d,
						     double e, double f, long g)
{
	calls++;
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + (double)g;
}
#endif

/* ---- several versions, one of which is chosen when the program starts ---- */

__attribute__((target_clones("avx2", "default"))) long NAME(clones)(long a, long b)
{
	long sum = 0;

	for (long i = 0; i < 8; i++)
		sum += a * i ^ b;
	return sum;
}

KEPT long NAME(calls_clones)(long a, long b)
{
	return NAME(clones)(a, b) + 1;
}

/* ---- nested functions: the static chain is in r10 ---- */

KEPT long NAME(chained)(long a, long b)
{
#ifdef __clang__
	return a * 3 + b;
#else
	long local = a;
	__attribute__((noinline)) void inner(long c)
	{
		local += c * 2;
	}
	__attribute__((noinline)) long outer(long c)
	{
		inner(c);
		inner(local);
		return local;
	}

	return outer(b) + NAME(leaf)(local);
#endif
}

/* What is the traced function's own, for the caller to compare; what it counted is forgotten. */
__attribute__((no_instrument_function)) void NAME(take)(struct sink *sink)
{
	sink->words[0] = calls;
	sink->words[1] = quiet;
	calls = quiet = 0;
}

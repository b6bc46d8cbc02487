/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shapes.c: a leaf in a loop, a recursion, and 48 functions reached through a table with tail calls
 * and leaves below them: what a hook costs where it is felt most, where it makes a leaf keep
 * registers, and where it undoes a tail call.
 */
#include "funcount/calibrate/program/shapes.h"

#include <stddef.h>

#define F(name) EP_SHAPE(name, COPY)
#ifdef __clang__ /* makes no clones */
#define CALLED static __attribute__((noinline))
#else
#define CALLED static __attribute__((noinline, noclone))
#endif

/* ---- leaf: arguments in, a result out ---- */

CALLED long F(leaf_of)(long a, long b)
{
	__asm__ volatile("" : "+r"(a));
	return a + b;
}

uint64_t F(leaf)(uint64_t calls)
{
	long sum = 1;

	for (uint64_t i = 0; i < calls; i++)
		sum = F(leaf_of)(sum, (long)i);
	__asm__ volatile("" : : "r"(sum));
	return calls;
}

/* ---- tree: Fibonacci's, which returns how many calls it took ---- */

CALLED uint64_t F(branch)(unsigned depth)
{
	uint64_t calls = 1;

	if (depth > 1) {
		calls += F(branch)(depth - 1);
		__asm__ volatile("" : "+r"(calls));
		calls += F(branch)(depth - 2);
	}
	__asm__ volatile("" : "+r"(calls));
	return calls;
}

uint64_t F(tree)(uint64_t calls)
{
	uint64_t made = 0;

	while (made < calls)
		made += F(branch)(14);
	return made;
}

/* ---- wide: an interpreter's kind of code ---- */

struct F(state) {
	long values[8], sum;
};

#define LEAF(i, other)                                              \
	CALLED long F(leaf##i)(struct F(state) * state, long value) \
	{                                                           \
		state->sum ^= value + (i);                          \
		return state->values[(value + (i)) & 7];            \
	}
#define STEP(i, other)                                              \
	CALLED long F(step##i)(struct F(state) * state, long value) \
	{                                                           \
		long got = F(leaf##other)(state, value);            \
                                                                    \
		if (got & 1)                                        \
			state->values[(i)&7] += value;              \
		else                                                \
			state->sum += got;                          \
		return got + F(leaf##i)(state, got);                \
	}
#define TAIL(i, other)                                                      \
	CALLED long F(tail##i)(struct F(state) * state, long value)         \
	{                                                                   \
		state->values[value & 7] = state->sum;                      \
		return F(step##i)(state, value ^ state->values[(other)&7]); \
	}
/* clang-format off */
#define ALL(X)                                                  \
	X(0, 5) X(1, 12) X(2, 9) X(3, 14)                       \
	X(4, 1) X(5, 8) X(6, 15) X(7, 2)                        \
	X(8, 11) X(9, 4) X(10, 3) X(11, 0)                      \
	X(12, 7) X(13, 6) X(14, 13) X(15, 10)
#define ENTRY(i, other) F(tail##i),

ALL(LEAF)
ALL(STEP)
ALL(TAIL)
static long (*const F(entries)[])(struct F(state) *, long) = {ALL(ENTRY)};
/* clang-format on */

#define CALLS_PER_ENTRY 4 /* tail, step, and two leaves */

uint64_t F(wide)(uint64_t calls)
{
	struct F(state) state = {{1, 2, 3, 4, 5, 6, 7, 8}, 0};
	uint64_t made = 0, draw = 88172645463325252u;

	for (; made < calls; made += CALLS_PER_ENTRY) {
		draw = draw * 6364136223846793005u + 1442695040888963407u;
		F(entries)
		[made / CALLS_PER_ENTRY & 15](&state, (long)(draw >> 33));
	}
	__asm__ volatile("" : : "r"(state.sum), "m"(state));
	return made;
}

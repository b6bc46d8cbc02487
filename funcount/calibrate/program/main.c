/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c: lib/epitaph/calibrate SLICES: times the shapes in the mode that the environment asks for,
 * the three copies in turn, slice by slice, so that a machine whose speed drifts does it to all of
 * them. Prints a line per shape, medians of the slices:
 *
 * 	leaf PLAIN EXCLUDED TRACED CYCLES
 *
 * nanoseconds per call of each copy, and cycles of the time stamp counter per nanosecond. With a
 * second word also of code that is wide (wide.S), in KiB, what a call with hooks takes longer:
 *
 * 	code 640 NS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#include "funcount/calibrate/program/shapes.h"
#include "funcount/calibrate/program/wide.h"

#define CALLS      50000 /* in a slice: 0.1 ms and more */
#define SLICES_MAX 1000
#define COPIES     3

typedef uint64_t (*shape_fn)(uint64_t calls);

static const struct shape {
	const char *name;
	shape_fn copies[COPIES];
} shapes[] = {
#define ROW(name)                                                                                  \
	{                                                                                          \
#name,                                                                             \
		{                                                                                  \
			EP_SHAPE(name, _plain), EP_SHAPE(name, _excluded), EP_SHAPE(name, _traced) \
		}                                                                                  \
	}
	ROW(leaf),
	ROW(tree),
	ROW(wide),
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

/* What another copy takes longer is compared slice by slice. */
static void time_shape(const struct shape *shape, int slices)
{
	static double taken[COPIES][SLICES_MAX];
	double begun = now(), ticks = (double)__rdtsc();
	double cycles_per_ns;

	for (int i = 0; i < slices; i++)
		for (int copy = 0; copy < COPIES; copy++) {
			uint64_t start = __rdtsc();
			uint64_t calls = shape->copies[copy](CALLS);

			taken[copy][i] = (double)(__rdtsc() - start) / (double)calls;
		}
	cycles_per_ns = ((double)__rdtsc() - ticks) / (now() - begun);
	for (int copy = 1; copy < COPIES; copy++)
		for (int i = 0; i < slices; i++)
			taken[copy][i] -= taken[0][i];
	printf("%s", shape->name);
	for (int copy = 0; copy < COPIES; copy++)
		printf(" %.4f", median(taken[copy], slices) / cycles_per_ns);
	printf(" %.4f\n", cycles_per_ns);
}

/* ---- wide code ---- */

#define GROUPS     (EP_WIDE_GROUPS * EP_WIDE_REGIONS)
#define WIDE_CALLS 100000 /* in a slice */

typedef long (*group_fn)(long data[EP_WIDE_DATA], long value);

/* The groups of some regions, in an order that no prefetcher knows. */
static unsigned choose_order(unsigned short order[GROUPS], unsigned regions)
{
	unsigned count = regions * EP_WIDE_GROUPS, draw = 7;

	for (unsigned i = 0; i < count; i++)
		order[i] = (unsigned short)i;
	for (unsigned i = count - 1; i > 0; i--) {
		unsigned short last = order[i], *other;

		draw = draw * 1103515245 + 12345;
		other = &order[(draw >> 8) % (i + 1)];
		order[i] = *other;
		*other = last;
	}
	return count;
}

static double cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds of CPU time per call: a slice is long, and others have the CPU meanwhile. */
static double walk(const char *groups, const unsigned short *order, unsigned count)
{
	static long data[EP_WIDE_DATA];
	double begun = cpu_ns();
	long value = 1, calls = 0;

	while (calls < WIDE_CALLS)
		for (unsigned i = 0; i < count; i++, calls += EP_WIDE_CALLS)
			value = ((group_fn)(uintptr_t)(groups + order[i] * EP_WIDE_SIZE))(data,
											  value);
	return (cpu_ns() - begun) / (double)calls;
}

static void time_wide(unsigned kib, int slices)
{
	static double taken[SLICES_MAX];
	unsigned short order[GROUPS];
	unsigned count = choose_order(order, kib / EP_WIDE_KIB);

	for (int i = 0; i < slices; i++) {
		taken[i] = walk(ep_wide_groups_traced, order, count);
		taken[i] -= walk(ep_wide_groups_plain, order, count);
	}
	printf("code %u %.4f\n", kib, median(taken, slices));
}

int main(int argc, char *argv[])
{
	static const unsigned sizes[] = {EP_WIDE_KIB, 4 * EP_WIDE_KIB, 16 * EP_WIDE_KIB,
					 32 * EP_WIDE_KIB};
	int slices = argc > 1 ? atoi(argv[1]) : 0;

	if (slices < 2 || slices > SLICES_MAX) {
		fprintf(stderr, "usage: %s SLICES [wide] (2 to %d)\n", argv[0], SLICES_MAX);
		return 64;
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		for (int copy = 0; copy < COPIES; copy++)
			shapes[i].copies[copy](CALLS); /* warm */
		time_shape(&shapes[i], slices);
	}
	for (size_t i = 0; argc > 2 && i < sizeof(sizes) / sizeof(*sizes); i++)
		time_wide(sizes[i], slices / 2);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c: lib/epitaph/calibrate SLICES: times the shapes in the mode that the environment asks for,
 * the three copies in turn, slice by slice, so that a machine whose speed drifts does it to all of
 * them. Prints a line per shape, medians of the slices:
 *
 * 	leaf PLAIN EXCLUDED TRACED CYCLES
 *
 * nanoseconds per call of each copy, and cycles of the time stamp counter per nanosecond.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#include "funcount/calibrate/program/shapes.h"

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

int main(int argc, char *argv[])
{
	int slices = argc > 1 ? atoi(argv[1]) : 0;

	if (slices < 1 || slices > SLICES_MAX) {
		fprintf(stderr, "usage: %s SLICES (1 to %d)\n", argv[0], SLICES_MAX);
		return 64;
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		for (int copy = 0; copy < COPIES; copy++)
			shapes[i].copies[copy](CALLS); /* warm */
		time_shape(&shapes[i], slices);
	}
	return 0;
}

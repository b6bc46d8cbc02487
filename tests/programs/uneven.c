/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uneven.c: calls that take 8 us, 2 us and next to nothing, in turns that fit no number of records.
 * Prints how many ns each kind took in all, by the program's own clock, and aborts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEPT __attribute__((noinline))

static volatile long sink;
static long took[2];

static inline __attribute__((always_inline, no_instrument_function)) long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

KEPT static void tiny(long i)
{
	sink += i;
}

KEPT static void brief(void)
{
	long begun = now(), end = begun + 2000, time;

	while ((time = now()) < end)
		sink++;
	took[0] += time - begun;
}

KEPT static void dear(void)
{
	long begun = now(), end = begun + 8000, time;

	while ((time = now()) < end)
		sink++;
	took[1] += time - begun;
}

KEPT static void serve(long i)
{
	for (long n = 0; n < 100 + i % 37; n++)
		tiny(i);
	brief();
	for (long n = 0; n < 3 + i % 5; n++)
		tiny(i);
	if (i % 3 == 0)
		dear();
}

int main(int argc, char **argv)
{
	for (long i = 0; i < (argc > 1 ? atol(argv[1]) : 20000); i++)
		serve(i);
	printf("%ld %ld\n", took[0], took[1]);
	fflush(stdout);
	abort();
}

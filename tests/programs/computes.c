/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * computes.c: a call that computes for long, among tiny ones. `computes ROUNDS MS HOW` prints how
 * long compute() took in all, in ns, and then aborts, or waits to be killed or asked for a snapshot
 * (HOW: abort, wait).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

static volatile long sink;
static long took;

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

KEPT static void step(long i)
{
	for (int n = 0; n < 20; n++)
		tiny(i);
}

KEPT static void compute(long ms)
{
	long begun = now(), end = begun + ms * 1000000;

	while (now() < end)
		for (int i = 0; i < 100; i++)
			sink++;
	took += now() - begun;
}

/* Here and there among the records that have times. */
KEPT static void serve(int number, long ms)
{
	for (long i = 0; i < 500 + number * 37; i++)
		step(i);
	compute(ms);
	step(number);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	long ms = argc > 2 ? atol(argv[2]) : 5, begun = now();

	/* Until somebody looks. */
	while (now() - begun < 100000000)
		step(1);
	for (int i = 0; i < rounds; i++)
		serve(i, ms);
	for (int i = 0; i < 500; i++)
		step(i);
	printf("%ld\n", took);
	fflush(stdout);
	if (argc > 3 && !strcmp(argv[3], "wait"))
		pause();
	abort();
}

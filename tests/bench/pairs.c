/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pairs.c: the smallest traced program: `pairs N [THREADS]` makes N calls of a function that does
 * next to nothing, on each thread. What a variant of it takes longer than the uninstrumented one is
 * the cost of its hook pairs.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOT_TRACED  __attribute__((no_instrument_function))
#define MAX_THREADS 16

__attribute__((noinline)) long step(long x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

NOT_TRACED static void *work(void *argument)
{
	long n = *(long *)argument, x = 0;

	for (long i = 0; i < n; i++)
		x = step(x);
	return (void *)(intptr_t)(x != n);
}

NOT_TRACED int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t others[MAX_THREADS];
	int started = 0;

	while (started < threads - 1 && started < MAX_THREADS)
		pthread_create(&others[started++], NULL, work, &n);
	int wrong = work(&n) != NULL;
	while (started > 0)
		pthread_join(others[--started], NULL);
	return wrong;
}

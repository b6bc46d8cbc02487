/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timestamp_rates.c: three threads that call at different rates, for the regulator of time stamps.
 * "quiet" makes slow calls only; "stormy" storms of tiny calls and slow ones by turns; "waiter"
 * storms, waits in wait_for_it() and storms again. Then main aborts.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define NOT_TRACED  __attribute__((no_instrument_function))
#define TURNS       6
#define STORM_CALLS 40000
#define SLOW_CALLS  6000

NOT_TRACED static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

__attribute__((noinline)) void tiny(void)
{
	__asm__ volatile("");
}

/* A call that computes for 10 us. */
__attribute__((noinline)) void slow(void)
{
	for (long end = now_us() + 10; now_us() < end;)
		;
}

__attribute__((noinline)) void wait_for_it(void)
{
	nanosleep(&(struct timespec){0, 50000000}, NULL);
}

NOT_TRACED static void *quiet(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < 4 * SLOW_CALLS; i++)
		slow();
	return NULL;
}

NOT_TRACED static void *stormy(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (int turn = 0; turn < TURNS; turn++) {
		for (int i = 0; i < STORM_CALLS; i++)
			tiny();
		for (int i = 0; i < SLOW_CALLS; i++)
			slow();
	}
	return NULL;
}

NOT_TRACED static void *waiter(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < STORM_CALLS; i++)
		tiny();
	wait_for_it();
	for (int i = 0; i < STORM_CALLS; i++)
		tiny();
	return NULL;
}

NOT_TRACED int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, quiet, "quiet");
	pthread_create(&threads[1], NULL, stormy, "stormy");
	pthread_create(&threads[2], NULL, waiter, "waiter");
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	abort();
}

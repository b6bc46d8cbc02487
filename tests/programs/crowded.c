/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowded.c: has more of everything than fits a screen, when it dies: 40 variables in the function,
 * 46 frames inside of one in each of LIBRARIES, 99 threads in 33 functions. With -DLIBRARY=name it
 * is one of the libraries.
 */
#ifdef LIBRARY

void LIBRARY(void (*const *rest)(void *), void *last)
{
	((void (*)(void *, void *))rest[0])((void *)(rest + 1), last);
	__asm__ volatile("");
}

#else
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#define KEPT    __attribute__((noinline))
#define THREADS 99

static pthread_barrier_t begun;
static volatile int sink;
static volatile int *nowhere;

#define EIGHT(make, n) \
	make(n##0) make(n##1) make(n##2) make(n##3) make(n##4) make(n##5) make(n##6) make(n##7)
#define ALL(make) EIGHT(make, 1) EIGHT(make, 2) EIGHT(make, 3) EIGHT(make, 4) make(50)

#define WAITER(n)                        \
	KEPT static void waits_##n(void) \
	{                                \
		for (;;) {               \
			pause();         \
			sink++;          \
		}                        \
	}
ALL(WAITER)

#define NAME(n)       waits_##n,
static void (*const waiters[])(void) = {ALL(NAME)};

static void *thread(void *number)
{
	pthread_barrier_wait(&begun);
	waiters[(uintptr_t)number % (sizeof(waiters) / sizeof(*waiters))]();
	return NULL;
}

/* Each library calls the next, the last one goes down to what kills. */
typedef void step_fn(void *rest, void *last);
#define DECLARE(name) extern void name(void (*const *)(void *), void *);
#define LISTED(name)  (void (*)(void *)) name,
LIBRARIES(DECLARE)

#define VARIABLE(n) volatile long value_##n = n + sink;
#define USED(n)     sink += (int)value_##n;

KEPT static void step(int number)
{
	sink += number;
}

KEPT static void crash(int unused, long also)
{
	ALL(VARIABLE)
	volatile long more_1 = 1, more_2 = 2, more_3 = 3, more_4 = 4, more_5 = 5, more_6 = 6;

	for (int i = 0; i < 30; i++)
		step(i);
	*nowhere = 1;
	sink += unused == also;
	sink += (int)(more_1 + more_2 + more_3 + more_4 + more_5 + more_6);
	ALL(USED)
}

KEPT static void descend(int depth)
{
	if (depth)
		descend(depth - 1);
	else
		crash(sink, sink);
	sink++;
}

static void go_down(void *unused)
{
	descend(45 + !!unused);
	sink++;
}

static void (*const steps[])(void *) = {LIBRARIES(LISTED) go_down};

int main(void)
{
	pthread_t one;

	pthread_barrier_init(&begun, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&one, NULL, thread, (void *)i);
	pthread_barrier_wait(&begun);
	usleep(100000);
	((step_fn *)steps[0])((void *)(steps + 1), NULL);
	return 0;
}
#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiting.c: a dozen threads that compute and wait, each in its own way, and measure for how long
 * they were off their CPUs in each function that waits: prints "function ns" for each, then dies
 * with a core. Its argument: rounds.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#define CALL   static __attribute__((noinline, noipa))
#define UNSEEN static __attribute__((noinline, no_instrument_function))
#define NAP    400000 /* ns */

static int rounds;
static __thread long begun, spent;

UNSEEN long time_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

UNSEEN void before(void)
{
	begun = time_of(CLOCK_MONOTONIC);
	spent = time_of(CLOCK_THREAD_CPUTIME_ID);
}

UNSEEN void after(long *off)
{
	/* A system call, behind which a thread may have to wait for a CPU: so first, and the other,
	 * which is none, behind it. */
	long ran = time_of(CLOCK_THREAD_CPUTIME_ID) - spent;

	*off += time_of(CLOCK_MONOTONIC) - begun - ran;
}

UNSEEN void nap(void)
{
	struct timespec t = {0, NAP};

	nanosleep(&t, NULL);
}

UNSEEN struct timespec later(void)
{
	long ns = time_of(CLOCK_REALTIME) + NAP;

	return (struct timespec){ns / 1000000000, ns % 1000000000};
}

/* Computes, by calls that are traced. */
CALL int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* A function that waits and measures: `how` is what it does. */
static long *offs[16];
static const char *names[16];
static int known;

#define WAITS(name, how)                                                                   \
	static long off_##name;                                                            \
	CALL void name(void)                                                               \
	{                                                                                  \
		before();                                                                  \
		how;                                                                       \
		after(&off_##name);                                                        \
	}                                                                                  \
	static __attribute__((constructor, no_instrument_function)) void know_##name(void) \
	{                                                                                  \
		names[known] = #name;                                                      \
		offs[known++] = &off_##name;                                               \
	}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t nobody;
static int feed[2];

UNSEEN void hold(void)
{
	pthread_mutex_lock(&mutex);
	nap();
	pthread_mutex_unlock(&mutex);
}

UNSEEN void cond(void)
{
	struct timespec until = later();

	pthread_mutex_lock(&other);
	pthread_cond_timedwait(&never, &other, &until);
	pthread_mutex_unlock(&other);
}

UNSEEN void semaphore(void)
{
	struct timespec until = later();

	sem_timedwait(&nobody, &until);
}

UNSEEN void take(void)
{
	char byte;

	if (read(feed[0], &byte, 1) != 1)
		abort();
}

UNSEEN void choose(void)
{
	struct timeval t = {0, NAP / 1000};

	select(0, NULL, NULL, NULL, &t);
}

WAITS(book, hold())
WAITS(reserve, hold())
WAITS(doze, nap())
WAITS(fetch, take())
WAITS(listen_for, poll(NULL, 0, 1))
WAITS(await, cond())
WAITS(decrease, semaphore())
WAITS(pick, choose())
WAITS(first, nap())
WAITS(second, nap())
WAITS(leaf, nap())

CALL void branch(void)
{
	fib(5);
	leaf();
	fib(5);
}

static long off_bottom;
CALL int bottom(int n)
{
	int value = n;

	if (n)
		return bottom(n - 1) + 1;
	before();
	nap();
	after(&off_bottom);
	return value;
}

static long off_itself;
CALL void itself(void)
{
	for (int i = 0; i < rounds; i++) {
		fib(6);
		before();
		nap();
		after(&off_itself);
	}
}

/* Each is a thread: rounds of what it does. */
#define THREAD(name, what)                         \
	CALL void name(void)                       \
	{                                          \
		for (int i = 0; i < rounds; i++) { \
			what;                      \
		}                                  \
	}                                          \
	UNSEEN void *run_##name(void *nothing)     \
	{                                          \
		name();                            \
		return nothing;                    \
	}

THREAD(locks, fib(7); book())
THREAD(locks_too, fib(7); reserve())
THREAD(sleeps, fib(8); doze(); fib(4))
THREAD(reads, fib(7); fetch())
THREAD(polls, listen_for(); fib(9))
THREAD(signalled, fib(7); await(); fib(3))
THREAD(counts, fib(7); decrease())
THREAD(selects, fib(6); pick(); fib(6))
THREAD(alternates, fib(4); first(); fib(4); second())
THREAD(nests, fib(6); branch())
THREAD(recurses, fib(6); bottom(3))
THREAD(computes, fib(14))

UNSEEN void *run_itself(void *nothing)
{
	itself();
	return nothing;
}

UNSEEN void *feeder(void *nothing)
{
	for (int i = 0; i < rounds; i++) {
		nap();
		if (write(feed[1], "", 1) != 1)
			abort();
	}
	return nothing;
}

int main(int argc, char **argv)
{
	static void *(*const all[])(void *) = {
		feeder,    run_locks,     run_locks_too, run_sleeps,  run_reads,
		run_polls, run_signalled, run_counts,    run_selects, run_alternates,
		run_nests, run_recurses,  run_computes,  run_itself};
	enum { COUNT = sizeof(all) / sizeof(*all) };
	pthread_t threads[COUNT];

	rounds = argc > 1 ? atoi(argv[1]) : 100;
	sem_init(&nobody, 0, 0);
	if (pipe(feed))
		abort();
	for (int i = 0; i < COUNT; i++)
		pthread_create(&threads[i], NULL, all[i], NULL);
	for (int i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < known; i++)
		printf("%s %ld\n", names[i], *offs[i]);
	printf("bottom %ld\nitself %ld\n", off_bottom, off_itself);
	fflush(stdout);
	/* Until all events are copied. */
	for (int i = 0; i < 150; i++)
		nap();
	abort();
}

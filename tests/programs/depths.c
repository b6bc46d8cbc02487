/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * depths.c: threads whose stacks another looks at, at any moment: of many tiny calls, so that it
 * often stands in a hook; of deep recursions; of handlers, on the thread's own stack and on
 * another, of signals that come whenever they come; and two that wait. Writes "ready" when all have
 * begun, and goes on until it is killed.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define KEPT    __attribute__((noinline))
#define WORKERS 6

static volatile int sink;
static pthread_barrier_t begun;
static char stack[1 << 16];

KEPT static int leaf(int x)
{
	sink += x;
	return sink & 7;
}

KEPT static int pair(int x)
{
	return leaf(x) + leaf(x + 1);
}

KEPT static int down(int depth)
{
	int sum = pair(depth);

	if (depth > 0)
		sum += down(depth - 1);
	return sum + leaf(sum);
}

static void handler(int number)
{
	int before = errno;

	for (int i = 0; i < 500; i++)
		down(number % 8);
	errno = before;
}

static void *tiny(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&begun);
	for (;;)
		pair(3);
}

static void *deep(void *depth)
{
	pthread_barrier_wait(&begun);
	for (;;)
		down((int)(long)depth);
}

/* Its handlers run on another stack. */
static void *aside(void *depth)
{
	stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};

	sigaltstack(&own, NULL);
	return deep(depth);
}

KEPT static int wait_below(int depth)
{
	if (depth == 0)
		return poll(NULL, 0, -1);
	return wait_below(depth - 1) + leaf(depth);
}

static void *waiting(void *depth)
{
	pthread_barrier_wait(&begun);
	for (;;)
		wait_below((int)(long)depth);
}

int main(void)
{
	void *(*const works[WORKERS])(void *) = {tiny, deep, deep, aside, waiting, waiting};
	static const long depths[WORKERS] = {0, 20, 150, 30, 5, 120};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct timespec pause = {.tv_nsec = 100000};
	pthread_t threads[WORKERS];

	sigaction(SIGUSR1, &action, NULL);
	pthread_barrier_init(&begun, NULL, WORKERS + 1);
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, works[i], (void *)depths[i]))
			return 1;
	pthread_barrier_wait(&begun);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (unsigned i = 0;; i++) {
		pthread_kill(threads[i % WORKERS], SIGUSR1);
		nanosleep(&pause, NULL);
	}
}

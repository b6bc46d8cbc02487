/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storm.c: 100,000 signals into two threads that do nothing but call. The handlers are traced too,
 * on an alternate stack in one thread. Then main aborts. `storm [SIGNALS]`
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOT_TRACED __attribute__((no_instrument_function))
#define KEPT       __attribute__((noinline))

static atomic_ulong handled;
static unsigned long signals = 100000;

KEPT void leaf(void)
{
	__asm__ volatile("");
}

KEPT void outer(void)
{
	leaf();
	leaf();
	__asm__ volatile("");
}

KEPT void in_handler(void)
{
	leaf();
	__asm__ volatile("");
}

KEPT void on_signal(int number)
{
	(void)number;
	in_handler();
	handled++;
}

/* The kernel's timer hits the thread at any instruction, every 15 us. */
NOT_TRACED static timer_t rain_on_me(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct itimerspec every = {{0, 15000}, {0, 15000}};
	timer_t timer;

	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		exit(1);
	return timer;
}

NOT_TRACED static void *caller(void *alternate)
{
	static _Thread_local char bytes[65536];
	stack_t stack = {.ss_sp = bytes, .ss_size = sizeof(bytes)};
	timer_t timer;

	if (alternate)
		sigaltstack(&stack, NULL);
	timer = rain_on_me();
	while (handled < signals)
		outer();
	timer_delete(timer);
	return NULL;
}

NOT_TRACED int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
	pthread_t threads[2];

	if (argc > 1)
		signals = strtoul(argv[1], NULL, 0);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&threads[0], NULL, caller, NULL);
	pthread_create(&threads[1], NULL, caller, &threads);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	abort();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * altstack.c: four threads wait at the bottom of recursions of different depth; the main thread
 * crashes in one too, and dies in a handler that runs on a stack of its own. With an argument it
 * waits instead, after writing "ready".
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink;
static int *volatile nowhere;
static pthread_barrier_t all_deep;

static void handler(int signal)
{
	(void)signal;
	abort();
}

__attribute__((noinline)) static int dive(int depth, int crash)
{
	volatile char room[200];

	room[0] = (char)depth;
	if (depth == 0 && crash)
		*nowhere = 1;
	if (depth == 0)
		for (;;)
			pause();
	sink += room[0];
	return dive(depth - 1, crash) + room[0];
}

static void *worker(void *depth)
{
	pthread_barrier_wait(&all_deep);
	dive((int)(long)depth, 0);
	return NULL;
}

int main(int count, char **words)
{
	static char stack[65536];
	stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	pthread_t thread;

	(void)words;
	sigaltstack(&own, NULL);
	sigaction(SIGSEGV, &action, NULL);
	pthread_barrier_init(&all_deep, NULL, 5);
	for (long i = 0; i < 4; i++)
		pthread_create(&thread, NULL, worker, (void *)(20 + 30 * i));
	pthread_barrier_wait(&all_deep);
	usleep(200000);
	if (count > 1) {
		puts("ready");
		fflush(stdout);
		pause();
	}
	return dive(40, 1);
}

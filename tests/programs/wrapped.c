/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wrapped.c: flow_serve, called by flow_run, calls flow_step so often that a ring of 16 KiB is
 * written over more than 1,000 times; then flow_step calls flow_crash, which aborts. An argument:
 * in a thread of its own, while main waits.
 */
#include <pthread.h>
#include <stdlib.h>

#define FLOW  __attribute__((noinline, noclone))
#define QUIET __attribute__((noinline, no_instrument_function))
/* 1,000 times 4 blocks of 508 records, two a call. */
#define CALLS 1100000

static volatile int sink;

FLOW static void flow_crash(void)
{
	abort();
}

FLOW static void flow_step(int last)
{
	if (last)
		flow_crash();
	sink++;
}

FLOW static void flow_serve(void)
{
	for (int i = 0; i <= CALLS; i++)
		flow_step(i == CALLS);
	sink++;
}

FLOW static void flow_run(void)
{
	flow_serve();
	sink++;
}

QUIET static void *body(void *argument)
{
	flow_run();
	return argument;
}

QUIET int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	if (argc < 2)
		flow_run();
	pthread_create(&thread, NULL, body, NULL);
	pthread_join(thread, NULL);
}

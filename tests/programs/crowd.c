/* SPDX-License-Identifier: BSD-2-Clause */
/* crowd.c: 1,000 live threads, each with an open call of its own, then 2,000 short ones one
 * after the other; then main aborts. */
#include <pthread.h>
#include <stdlib.h>

#define LIVE  1000
#define SHORT 2000
#define KEPT  __attribute__((noinline))

static pthread_barrier_t all_there;

KEPT void some_work(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("");
}

KEPT void wait_for_ever(void)
{
	pthread_barrier_wait(&all_there);
	for (;;)
		pthread_barrier_wait(&all_there);
}

KEPT static void *live(void *unused)
{
	for (int i = 0; i < 5000; i++)
		some_work(i % 3);
	wait_for_ever();
	return unused;
}

KEPT static void *short_lived(void *unused)
{
	some_work(3);
	return unused;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	pthread_barrier_init(&all_there, NULL, LIVE + 1);
	for (int i = 0; i < LIVE; i++)
		if (pthread_create(&thread, &attributes, live, NULL))
			return 1;
	pthread_barrier_wait(&all_there);
	for (int i = 0; i < SHORT; i++) {
		if (pthread_create(&thread, &attributes, short_lived, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	abort();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slowest.c: keeps a snapshot of the slowest of many requests, which its ring has long forgotten
 * when it crashes. Another thread waits all the time. What was kept is also saved, to the file
 * named by the first argument; with a second one it says "ready" and waits for a line before it
 * crashes.
 */
#define _GNU_SOURCE
#include <epitaph.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define KEPT     __attribute__((noinline))
#define REQUESTS 20000
#define SLOW     70 /* decided by number, not by a clock */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int waiting;
static int *volatile nowhere;

KEPT void quick_step(void)
{
	__asm__ volatile("");
}

KEPT void slow_step(void)
{
	__asm__ volatile("");
}

KEPT void later_step(void)
{
	__asm__ volatile("");
}

KEPT void request(int number)
{
	for (int i = 0; i < 5; i++) {
		if (number == SLOW)
			slow_step();
		else if (number > SLOW)
			later_step();
		else
			quick_step();
	}
}

KEPT void wait_for_ever(void)
{
	__atomic_store_n(&waiting, 1, __ATOMIC_RELEASE);
	pthread_mutex_lock(&held);
}

static void *waiter(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "waiter");
	wait_for_ever();
	return NULL;
}

static void must(int right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

int main(int argc, char *argv[])
{
	struct epitaph_snapshot *slowest = NULL, *now;
	pthread_t thread;

	pthread_mutex_lock(&held);
	must(!pthread_create(&thread, NULL, waiter, NULL), "a thread");
	while (!__atomic_load_n(&waiting, __ATOMIC_ACQUIRE))
		;
	for (int i = 0; i < REQUESTS; i++) {
		uint64_t begun = epitaph_time();

		request(i);
		if (i > SLOW)
			continue;
		/* Each is slower than the one before, up to SLOW. */
		now = epitaph_snapshot_take_since(begun);
		must(now != NULL, "no room to keep it");
		epitaph_snapshot_free(slowest);
		slowest = now;
	}
	if (argc > 1)
		must(!epitaph_snapshot_save(slowest, argv[1]), "not saved");
	if (argc > 2) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	*nowhere = argc;
}

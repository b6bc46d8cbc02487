/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requests.c: a server of 20 requests, whose truth is known: two workers take turns; request 13
 * sleeps 40 ms in req_fetch; then three threads come for a mutex that another holds for 60 ms
 * (req_lock), and req_hold wakes them. At last it aborts in req_die.
 */
#define _GNU_SOURCE
#include <epitaph.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALL    __attribute__((noinline))
#define SILENT  __attribute__((no_instrument_function))
#define WORKERS 2
#define WAITERS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t held;
static volatile int sum;

SILENT static void sleep_ms(long ms)
{
	struct timespec t = {0, ms * 1000000};

	nanosleep(&t, NULL);
}

CALL static void req_parse(int i)
{
	for (int j = 0; j < 1000; j++)
		sum += i;
}

CALL static void req_fetch(int i)
{
	sum += i;
	if (i == 13)
		sleep_ms(40);
}

CALL static void req_handle(int i)
{
	epitaph_mark_begin("request");
	epitaph_note("request %d", i);
	req_parse(i);
	req_fetch(i);
	epitaph_mark_end("request");
}

SILENT static void *work(void *first)
{
	pthread_setname_np(pthread_self(), first ? "worker-1" : "worker-0");
	for (int i = first ? 1 : 0; i < 20; i += WORKERS)
		req_handle(i);
	return NULL;
}

CALL static void req_hold(void)
{
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < WAITERS; i++)
		sem_post(&held);
	sleep_ms(60);
	pthread_mutex_unlock(&mutex);
}

CALL static void req_lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

SILENT static void *hold(void *unused)
{
	pthread_setname_np(pthread_self(), "holder");
	req_hold();
	return unused;
}

SILENT static void *contend(void *unused)
{
	pthread_setname_np(pthread_self(), "contender");
	sem_wait(&held);
	req_lock();
	return unused;
}

CALL static void req_die(void)
{
	sleep_ms(60); /* all that the kernel recorded is copied by then */
	abort();
}

int main(void)
{
	pthread_t threads[WORKERS + WAITERS + 1];
	int count = 0;

	sem_init(&held, 0, 0);
	for (long i = 0; i < WORKERS; i++)
		pthread_create(&threads[count++], NULL, work, (void *)i);
	for (; count > 0; count--)
		pthread_join(threads[count - 1], NULL);
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&threads[count++], NULL, contend, NULL);
	pthread_create(&threads[count++], NULL, hold, NULL);
	for (; count > 0; count--)
		pthread_join(threads[count - 1], NULL);
	req_die();
	return 0;
}

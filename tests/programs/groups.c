/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * groups.c: 99 threads that do five things, when the main one dies: 60 wait for events, 24 for
 * work, 12 for a lock that the writer holds, the writer sleeps, one spins. With an argument of
 * "deadlock" two threads wait for each other's locks, besides.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;
static volatile unsigned long spun;
static volatile int *nowhere;

static void named(const char *what, int number)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%d", what, number);
	pthread_setname_np(pthread_self(), name);
	pthread_barrier_wait(&begun);
}

KEPT static void wait_for_events(int file)
{
	struct epoll_event event;

	epoll_wait(file, &event, 1, -1);
	spun++;
}

KEPT static void *event_loop(void *number)
{
	int file = epoll_create1(0);

	named("loop", (int)(intptr_t)number);
	for (;;)
		wait_for_events(file);
	return NULL;
}

KEPT static void take_work(void)
{
	pthread_mutex_lock(&work_lock);
	pthread_cond_wait(&work, &work_lock);
	pthread_mutex_unlock(&work_lock);
}

KEPT static void *worker(void *number)
{
	named("worker", (int)(intptr_t)number);
	for (;;)
		take_work();
	return NULL;
}

KEPT static void cache_get(void)
{
	pthread_mutex_lock(&cache_lock);
	spun++;
	pthread_mutex_unlock(&cache_lock);
}

KEPT static void *reader(void *number)
{
	named("reader", (int)(intptr_t)number);
	cache_get();
	return NULL;
}

KEPT static void flush(void)
{
	pthread_mutex_lock(&cache_lock);
	pthread_barrier_wait(&begun);
	sleep(1000);
	pthread_mutex_unlock(&cache_lock);
}

KEPT static void *writer(void *unused)
{
	pthread_setname_np(pthread_self(), "writer");
	flush();
	return unused;
}

KEPT static void *spinner(void *unused)
{
	named("spinner", 1);
	for (;;)
		spun++;
	return unused;
}

KEPT static void take_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	usleep(100000);
	pthread_mutex_lock(second);
	spun++;
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

KEPT static void *one_way(void *unused)
{
	named("one-way", 1);
	take_both(&left, &right);
	return unused;
}

KEPT static void *other_way(void *unused)
{
	named("other-way", 1);
	take_both(&right, &left);
	return unused;
}

KEPT static int choose(void)
{
	return *nowhere;
}

static void start(void *(*run)(void *), int count)
{
	pthread_t thread;

	for (int i = 1; i <= count; i++)
		pthread_create(&thread, NULL, run, (void *)(intptr_t)i);
}

int main(int count, char **words)
{
	int deadlock = count > 1 && strcmp(words[1], "deadlock") == 0;

	pthread_barrier_init(&begun, NULL, 99 + (deadlock ? 2 : 0));
	start(writer, 1);
	start(event_loop, 60);
	start(worker, 24);
	start(reader, 12);
	start(spinner, 1);
	if (deadlock) {
		start(one_way, 1);
		start(other_way, 1);
	}
	pthread_barrier_wait(&begun);
	usleep(500000);
	return choose();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * asks.c: waits of seven kinds among tiny calls, each in a function of its own, and how long it
 * took by the program's own clock. `asks [rounds]`, 30 by default: a line "function nanoseconds"
 * for each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))
#define MS   1000000L

static volatile long sink;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int question[2], answer[2];

KEPT static void tiny(long i)
{
	sink += i;
}

/* So many records, untimed ones for the most part. */
KEPT static void work(int calls)
{
	for (int i = 0; i < calls; i++)
		tiny(i);
}

static struct timespec in_ms(long ms)
{
	struct timespec then;

	clock_gettime(CLOCK_REALTIME, &then);
	then.tv_nsec += ms * MS;
	then.tv_sec += then.tv_nsec / 1000000000;
	then.tv_nsec %= 1000000000;
	return then;
}

KEPT static void wait_by_sleep(void)
{
	nanosleep(&(struct timespec){0, 2 * MS}, NULL);
}

KEPT static void wait_by_poll(void)
{
	poll(NULL, 0, 2);
}

KEPT static void wait_by_select(void)
{
	select(0, NULL, NULL, NULL, &(struct timeval){0, 2000});
}

KEPT static void wait_by_condition(void)
{
	struct timespec then = in_ms(2);

	pthread_mutex_lock(&mutex);
	while (pthread_cond_timedwait(&condition, &mutex, &then) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&mutex);
}

KEPT static void wait_by_semaphore(void)
{
	struct timespec then = in_ms(2);

	while (sem_timedwait(&semaphore, &then) && errno == EINTR)
		;
}

KEPT static void wait_for_answer(void)
{
	char byte = 0;

	if (write(question[1], &byte, 1) != 1 || read(answer[0], &byte, 1) != 1)
		abort();
}

KEPT static void wait_for_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &(struct timespec){0, 2 * MS});
}

static void *answers(void *unused)
{
	char byte;

	while (read(question[0], &byte, 1) == 1) {
		nanosleep(&(struct timespec){0, 2 * MS}, NULL);
		if (write(answer[1], &byte, 1) != 1)
			abort();
	}
	return unused;
}

static const struct {
	const char *name;
	void (*wait)(void);
} waits[] = {
	{"wait_by_sleep", wait_by_sleep},         {"wait_by_poll", wait_by_poll},
	{"wait_by_select", wait_by_select},       {"wait_by_condition", wait_by_condition},
	{"wait_by_semaphore", wait_by_semaphore}, {"wait_for_answer", wait_for_answer},
	{"wait_for_signal", wait_for_signal},
};
#define WAITS (sizeof(waits) / sizeof(*waits))

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 30;
	long took[WAITS] = {0};
	pthread_t other;

	sem_init(&semaphore, 0, 0);
	if (pipe(question) || pipe(answer) || pthread_create(&other, NULL, answers, NULL))
		return 1;
	work(20000);
	for (int round = 0; round < rounds; round++) {
		for (unsigned i = 0; i < WAITS; i++) {
			long begun;

			work(300 + round * 7 + (int)i);
			begun = now();
			waits[i].wait();
			took[i] += now() - begun;
		}
	}
	work(300);
	for (unsigned i = 0; i < WAITS; i++)
		printf("%s %ld\n", waits[i].name, took[i]);
	fflush(stdout);
	abort();
}

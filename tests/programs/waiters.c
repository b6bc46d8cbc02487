/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiters.c: three named threads that have called a few functions and wait in one, and a main
 * thread that dies or waits.
 *
 * 	waiters abort    SIGABRT
 * 	waiters unsaved  SIGABRT, and the core shall hold no memory at all
 * 	waiters wait     prints "ready" and waits for ever
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT  __attribute__((noinline, noipa))
#define COUNT 3

static atomic_int waiting;
static volatile unsigned long sum;

KEPT static void count(unsigned long value)
{
	sum += value;
}

KEPT static void wait_for_ever(void)
{
	waiting++;
	for (;;)
		pause();
}

KEPT static void work(unsigned long number)
{
	for (unsigned long i = 0; i < 2000 * number; i++)
		count(i);
	wait_for_ever();
}

static void *run(void *argument)
{
	char name[16];
	unsigned long number = (unsigned long)argument;

	snprintf(name, sizeof(name), "waiter-%lu", number);
	pthread_setname_np(pthread_self(), name);
	work(number);
	return NULL;
}

KEPT static void save_no_memory(void)
{
	int file = open("/proc/self/coredump_filter", O_WRONLY);

	if (file < 0 || write(file, "0", 1) != 1)
		_exit(1);
	close(file);
}

KEPT static void die(void)
{
	count(1);
	abort();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "abort";

	for (unsigned long i = 1; i <= COUNT; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, (void *)i) != 0)
			return 1;
	}
	while (waiting < COUNT)
		usleep(1000);
	if (strcmp(mode, "unsaved") == 0)
		save_no_memory();
	if (strcmp(mode, "wait") == 0) {
		puts("ready");
		fflush(stdout);
		wait_for_ever();
	}
	die();
}

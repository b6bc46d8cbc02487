/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * idles.c: processes that wait nearly all the time.
 *   threads   three threads take turns with a mutex, and sleep with and without it
 *   server    one thread answers each byte of its standard input
 *   computes  never waits, until a byte is there
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALL __attribute__((noinline))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long done;

static void nap(long ns)
{
	struct timespec t = {0, ns};

	nanosleep(&t, NULL);
}

CALL static void idles_locked(void)
{
	pthread_mutex_lock(&mutex);
	done++;
	nap(1000000);
	pthread_mutex_unlock(&mutex);
}

CALL static void idles_rest(void)
{
	nap(6000000);
}

static void *run(void *unused)
{
	for (;;) {
		idles_locked();
		idles_rest();
	}
	return unused;
}

CALL static int idles_await(void)
{
	char byte;

	return read(STDIN_FILENO, &byte, 1) == 1;
}

CALL static void idles_serve(void)
{
	done++;
	if (write(STDOUT_FILENO, ".", 1) != 1)
		done++;
}

CALL static int idles_compute(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	for (int i = 0; i < 1000000; i++)
		done++;
	return poll(&in, 1, 0) == 0;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "threads") == 0) {
		for (int i = 0; i < 3; i++)
			pthread_create(&thread, NULL, run, NULL);
		return idles_await();
	}
	if (argc > 1 && strcmp(argv[1], "computes") == 0) {
		while (idles_compute())
			;
		return 0;
	}
	while (idles_await())
		idles_serve();
	return 0;
}

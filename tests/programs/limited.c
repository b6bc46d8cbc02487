/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limited.c: takes memory in one way, and says what it got: for limits of address space, data and
 * locked memory. ./limited one | threads N | load LIBRARY | sets | locks FLAGS
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PIECE (256 << 10)
#define MOST  1024

static volatile unsigned long done;
static pthread_barrier_t all;

static __attribute__((noinline)) void work(unsigned long n)
{
	done += n;
}

static __attribute__((noinline)) int take(int pieces)
{
	int got = 0;

	for (; got < pieces; got++) {
		char *piece = malloc(PIECE);

		if (!piece)
			break;
		memset(piece, 1, PIECE);
		for (unsigned long i = 0; i < 1000; i++)
			work(i);
	}
	return got;
}

static void *thread(void *unused)
{
	for (unsigned long i = 0; i < 3000; i++)
		work(i);
	pthread_barrier_wait(&all);
	return unused;
}

static int threads(int count)
{
	pthread_t list[MOST];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_barrier_init(&all, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++) {
		int error = pthread_create(&list[i], &small, thread, NULL);

		if (error) {
			printf("thread: %s\n", strerror(error));
			fflush(stdout);
			_exit(2);
		}
	}
	pthread_barrier_wait(&all);
	for (int i = 0; i < count; i++)
		pthread_join(list[i], NULL);
	printf("%d threads\n", count);
	return 0;
}

/* As much as a limit of its own leaves above what is there. */
static int sets(void)
{
	struct rlimit limit;
	char text[200] = "";
	FILE *file = fopen("/proc/self/statm", "r");
	int got;

	if (!file || !fgets(text, sizeof(text), file))
		return 9;
	fclose(file);
	limit.rlim_cur = limit.rlim_max = (rlim_t)strtoul(text, NULL, 10) * 4096 + (32 << 20);
	if (setrlimit(RLIMIT_AS, &limit))
		return 9;
	got = take(32 * 4 - 8);
	printf("%d pieces\n", got);
	return got != 32 * 4 - 8;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	for (unsigned long i = 0; i < 10000; i++)
		work(i);
	if (!strcmp(how, "one")) {
		int got = take(16);

		printf("%d pieces\n", got);
		return got != 16;
	}
	if (!strcmp(how, "threads"))
		return threads(atoi(argv[2]));
	if (!strcmp(how, "sets"))
		return sets();
	if (!strcmp(how, "locks")) {
		if (mlockall(atoi(argv[2]))) {
			printf("mlockall: %s\n", strerror(errno));
			return 1;
		}
		puts("locked");
		return threads(8) || take(4) != 4;
	}
	if (!strcmp(how, "load")) {
		void *library = dlopen(argv[2], RTLD_NOW);

		puts(library ? "loaded" : "not loaded");
		return !library;
	}
	return 9;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bulk.c: a big process dies: bulk MIB SPARSE_MIB: MIB of touched memory, a mapping of SPARSE_MIB
 * of which only the ends were touched (its core holds a hole), 25 threads that have filled their
 * rings. Says when it aborts (CLOCK_MONOTONIC, ns).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define THREADS 25
#define CALLS   200000 /* more than a ring of 1 MiB holds */
#define KEPT    __attribute__((noinline))

static pthread_barrier_t done;

KEPT void step(void)
{
	__asm__ volatile("");
}

KEPT void work(int calls)
{
	for (int i = 0; i < calls; i++)
		step();
}

static void *worker(void *unused)
{
	work(CALLS);
	pthread_barrier_wait(&done);
	for (;;)
		pthread_barrier_wait(&done);
	return unused;
}

static volatile unsigned char *map(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED) {
		perror("bulk: mmap");
		exit(1);
	}
	return bytes;
}

int main(int count, char **words)
{
	size_t size = count > 1 ? strtoul(words[1], NULL, 10) << 20 : 0;
	size_t hole = count > 2 ? strtoul(words[2], NULL, 10) << 20 : 0;
	volatile unsigned char *bytes;
	struct timespec now;
	pthread_t thread;

	if (size) {
		bytes = map(size);
		for (size_t at = 0; at < size; at += 64)
			bytes[at] = (unsigned char)(at / 64 + 1);
	}
	if (hole) {
		bytes = map(hole);
		bytes[0] = bytes[hole - 1] = 1;
	}
	pthread_barrier_init(&done, NULL, THREADS);
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, worker, NULL))
			return 1;
	work(CALLS);
	pthread_barrier_wait(&done);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
	fflush(stdout);
	abort();
}

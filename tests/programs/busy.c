/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * busy.c: N threads that call as fast as they can, and one that sleeps after a few calls. The main
 * thread says `ready` when all have gone round their rings, and then does what the letters on its
 * input say: w writes a snapshot, k keeps one and writes that, l writes one with little memory to
 * be had, p prints the longest time in us that one of the threads stood still since the last p, r
 * waits until all of them have gone round their rings once more, c dies of SIGSEGV, q exits. A
 * thread whose errno a hook changes aborts.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "epitaph.h"

static atomic_ulong rounds[64];
static atomic_ulong longest; /* ns between two rounds */
static atomic_int asleep, stop;
static long count;

__attribute__((noinline)) static void leaf(int x)
{
	__asm__ volatile("" : : "r"(x));
}

__attribute__((noinline)) static void step(int x)
{
	leaf(x);
	leaf(x + 1);
}

NOFUNTRACE static unsigned long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (unsigned long)time.tv_sec * 1000000000 + (unsigned long)time.tv_nsec;
}

NOFUNTRACE static void look(unsigned long *last)
{
	unsigned long time = now(), old = atomic_load(&longest);

	while (time - *last > old && !atomic_compare_exchange_weak(&longest, &old, time - *last))
		;
	*last = time;
}

static void *work(void *number)
{
	unsigned long last = now();

	while (!atomic_load(&stop)) {
		errno = 4711;
		for (int i = 0; i < 100; i++)
			step(i);
		if (errno != 4711)
			abort();
		atomic_fetch_add(&rounds[(long)number], 1);
		look(&last);
	}
	return NULL;
}

static void *sleeper(void *none)
{
	for (int i = 0; i < 100; i++)
		step(i);
	atomic_store(&asleep, 1);
	pause();
	return none;
}

/* Address space for so many KiB more. By the instruction: of setrlimit() the runtime would hear,
 * and give back what it has reserved. */
NOFUNTRACE static void limit(unsigned long kib)
{
	register struct rlimit *old __asm__("r10") = NULL;
	long done = SYS_prlimit64;
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	struct rlimit limit;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		abort();
	fclose(file);
	limit.rlim_cur = limit.rlim_max = pages * 4096 + kib * 1024;
	__asm__ volatile("syscall"
			 : "+a"(done)
			 : "D"(0), "S"(RLIMIT_AS), "d"(&limit), "r"(old)
			 : "rcx", "r11", "memory");
}

/* 256 blocks of 508 records, 600 of which each of `rounds` makes. */
NOFUNTRACE static void go_round(void)
{
	for (long i = 0; i < count; i++) {
		unsigned long until = atomic_load(&rounds[i]) + 300;

		while (atomic_load(&rounds[i]) < until)
			usleep(1000);
	}
}

static void act(int letter)
{
	const struct epitaph_snapshot *kept;

	if (letter == 'l')
		limit(900);
	if (letter == 'w' || letter == 'l')
		printf("%s\n", epitaph_snapshot_write(NULL) ? "failed" : "done");
	if (letter == 'k') {
		kept = epitaph_snapshot_take();
		printf("%s\n", !kept || epitaph_snapshot_save(kept, NULL) ? "failed" : "done");
	}
	if (letter == 'p')
		printf("%lu\n", atomic_exchange(&longest, 0) / 1000);
	if (letter == 'r') {
		go_round();
		puts("round");
	}
	if (letter == 'c')
		*(volatile int *)8 = 0;
	fflush(stdout);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int letter;

	count = argc > 1 ? atol(argv[1]) : 2;
	for (long i = 0; i < count; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	pthread_create(&thread, NULL, sleeper, NULL);
	go_round();
	while (!atomic_load(&asleep))
		usleep(1000);
	puts("ready");
	fflush(stdout);
	while ((letter = getchar()) != EOF && letter != 'q')
		act(letter);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * breakable.c: four threads that call at full speed and hold each result against what it must be,
 * while others change the code of the functions. Says "ready"; at the end of its standard input it
 * says "right", or which result was wrong.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define KEPT    __attribute__((noinline))
#define THREADS 4

static atomic_int done;
static atomic_long wrong;
unsigned watched;

KEPT unsigned leaf(unsigned value)
{
	__asm__ volatile("" : "+r"(value));
	return value * 3 + 1;
}

KEPT unsigned twice(unsigned value)
{
	return leaf(value) + leaf(value + 1);
}

/* 1 + … + count, by as many calls. */
KEPT unsigned deep(unsigned count)
{
	__asm__ volatile("" : "+r"(count));
	return count ? deep(count - 1) + count : 0;
}

KEPT unsigned tail(unsigned value)
{
	__asm__ volatile("" : "+r"(value));
	return twice(value + 2);
}

static void *work(void *unused)
{
	for (unsigned i = 0; !atomic_load_explicit(&done, memory_order_relaxed); i++) {
		if (twice(i) != 6 * i + 5 || tail(i) != 6 * i + 17 ||
		    deep(i % 20) != (i % 20) * (i % 20 + 1) / 2)
			atomic_store(&wrong, i + 1L);
		if (i % 4096 == 0)
			watched++;
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	printf("ready\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
	atomic_store(&done, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf(wrong ? "wrong at %ld\n" : "right\n", wrong - 1);
	return wrong != 0;
}

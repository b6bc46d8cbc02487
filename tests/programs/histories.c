/* SPDX-License-Identifier: BSD-2-Clause */
/* histories.c: prints how many KiB of it are in memory after ten calls; with a number, that many
 * threads, one after the other, make ten calls each, and then main aborts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void work(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("");
}

static void *ten_calls(void *unused)
{
	for (int i = 0; i < 10; i++)
		work(i);
	return unused;
}

static long resident(void)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	long kib, sum = 0;
	char line[4096];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Rss: %ld kB", &kib) == 1)
			sum += kib;
	return sum;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread;

	ten_calls(NULL);
	printf("%ld\n", resident());
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, ten_calls, NULL) || pthread_join(thread, NULL))
			return 1;
	if (count)
		abort();
	return 0;
}

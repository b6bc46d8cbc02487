/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * taker.c: a handler of crashes that keeps nothing but times: taker FILE reads a core from its
 * standard input and writes into FILE when the first and the last byte came (CLOCK_MONOTONIC, ns),
 * and how many there were.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static char bytes[1 << 20];

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char **words)
{
	long long first = 0, size = 0;
	ssize_t got;
	FILE *out;

	if (count != 2)
		return 1;
	while ((got = read(0, bytes, sizeof(bytes))) > 0) {
		first = first ? first : now();
		size += got;
	}
	out = fopen(words[1], "w");
	if (!out)
		return 1;
	fprintf(out, "%lld %lld %lld\n", first, now(), size);
	return fclose(out) != 0;
}

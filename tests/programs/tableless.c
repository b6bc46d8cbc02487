/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tableless.c: compiled without unwind tables. `hot TIMES`: handles as many requests, each with
 * 200,000 calls of tiny(), and dies. `names`: each line of stdin is a function's name, which goes
 * off, the one before comes back, and the name is said on stdout. cold() lies where parts of
 * other functions lie, too (.text.unlikely), with their returns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <epitaph.h>

#define KEEP __attribute__((noinline))

volatile int total;

KEEP __attribute__((cold)) int cold(int x)
{
	total -= x;
	return x + 1;
}

KEEP int tiny(int x)
{
	total += x;
	return x + 1;
}

KEEP int seldom(int x)
{
	if (__builtin_expect(x == 5, 0)) {
		total = 3;
		cold(x);
		return 7;
	}
	total += x;
	return x;
}

KEEP int tail(int x)
{
	if (__builtin_expect(x == 5, 0)) {
		total = 3;
		cold(x);
		return cold(x + 1);
	}
	total += x;
	return tiny(x);
}

KEEP int cases(int x)
{
	switch (x % 8) {
	case 0:
		return tiny(x + 1);
	case 1:
		return cold(x);
	case 2:
		total = 3;
		return seldom(x) + 1;
	case 3:
		total += tail(x);
		return 1;
	case 5:
		return cold(x + 2) + 2;
	case 6:
		tiny(3);
		return seldom(x);
	default:
		return 4;
	}
}

KEEP void request(int x)
{
	int sum = x;

	for (int i = 0; i < 200000; i++)
		sum = tiny(sum);
	total = sum;
}

KEEP void handle(int x)
{
	struct timespec pause = {0, 1000000};

	request(x);
	nanosleep(&pause, NULL);
}

KEEP void each_name(void)
{
	char name[64], before[64] = "";

	while (fgets(name, sizeof(name), stdin)) {
		name[strcspn(name, "\n")] = '\0';
		if (before[0])
			epitaph_trace(before);
		printf("%s%s\n", name, epitaph_untrace(name) == 1 ? "" : " is not to be had");
		strcpy(before, name);
		fflush(stdout);
	}
}

int main(int count, char **words)
{
	if (count > 1 && !strcmp(words[1], "names")) {
		for (int i = 0; i < 16; i++)
			total += cases(i) + seldom(i) + tail(i);
		each_name();
		return 0;
	}
	for (int i = 0; i < (count > 2 ? atoi(words[2]) : 0); i++)
		handle(i);
	abort();
}

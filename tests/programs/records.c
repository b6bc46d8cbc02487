/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.c: `records N [fork] [WORD]`: parses N records, each by one call of parse and three of
 * digit; with fork a child does as many again. work is a call too. WORD: abort, kill, or an exit
 * status. What it prints, and how it ends, must be its own.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int digit(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x & 9;
}

__attribute__((noinline)) int parse(int x)
{
	return digit(x) + digit(x + 1) + digit(x + 2);
}

__attribute__((noinline)) int work(int records)
{
	int sum = 0;

	for (int i = 0; i < records; i++)
		sum += parse(i);
	return sum;
}

int main(int argc, char *argv[])
{
	int records = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 2 && !strcmp(argv[2], "fork")) {
		if (fork() == 0)
			exit(work(records) < 0);
		wait(NULL);
		argc--;
		argv++;
	}
	printf("sum %d\n", work(records));
	fflush(stdout);
	if (argc > 2 && !strcmp(argv[2], "abort"))
		abort();
	if (argc > 2 && !strcmp(argv[2], "kill"))
		raise(SIGKILL);
	return argc > 2 ? atoi(argv[2]) : 0;
}

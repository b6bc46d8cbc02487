/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switched.c: a process whose hooks come and go: it obeys one word per line of its standard input
 * and answers with it: step (calls one function), many (one thousand times), untrace, trace (that
 * function, by itself), pause and resume (everything, by itself), fork (a child that steps when
 * told to, by its own lines, and tells its pid).
 */
#define _GNU_SOURCE
#include <epitaph.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

KEPT static int step(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

KEPT static int many(int value)
{
	for (int i = 0; i < 1000; i++)
		value = step(value);
	return value;
}

KEPT static void answer(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
}

KEPT static void branch_off(void)
{
	if (fork() == 0) {
		printf("%d\n", (int)getpid());
		fflush(stdout);
	}
}

int main(void)
{
	char line[64];
	int value = 0;

	answer("ready");
	/* Unbuffered: a forked child reads the lines that come after. */
	setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "step"))
			value = step(value);
		else if (!strcmp(line, "many"))
			value = many(value);
		else if (!strcmp(line, "pause"))
			epitaph_pause();
		else if (!strcmp(line, "resume"))
			epitaph_resume();
		else if (!strcmp(line, "untrace"))
			fprintf(stderr, "%d\n", epitaph_untrace("s*p"));
		else if (!strcmp(line, "trace"))
			fprintf(stderr, "%d\n", epitaph_trace("step"));
		else if (!strcmp(line, "fork"))
			branch_off();
		if (strcmp(line, "fork"))
			answer(line);
	}
	return 0;
}

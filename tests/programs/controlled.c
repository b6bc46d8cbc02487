/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * controlled.c: a process to be controlled: two busy threads, one that waits, and the main thread,
 * which obeys one word per line of its standard input and answers with one: step (calls one
 * function), fork (a child that steps when told to, by its own lines, and tells its pid), pause and
 * resume (itself), crash.
 */
#define _GNU_SOURCE
#include <epitaph.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

KEPT static unsigned leaf(unsigned value)
{
	__asm__ volatile("" : "+r"(value));
	return value * 3 + 1;
}

KEPT static unsigned branch(unsigned value)
{
	return leaf(value) + leaf(value + 1);
}

static void *busy(void *unused)
{
	unsigned value = 0;

	(void)unused;
	pthread_setname_np(pthread_self(), "busy");
	for (;;)
		value = branch(value);
	return NULL;
}

static void *idle(void *unused)
{
	pthread_setname_np(pthread_self(), "idle");
	pthread_mutex_lock(&held);
	return unused;
}

KEPT static void step(void)
{
	__asm__ volatile("");
}

static void say(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
}

static void branch_off(void)
{
	pid_t child = fork();

	if (child)
		return;
	printf("%d\n", (int)getpid());
	fflush(stdout);
}

int main(void)
{
	pthread_t thread;
	char line[64];

	pthread_mutex_lock(&held);
	pthread_create(&thread, NULL, busy, NULL);
	pthread_create(&thread, NULL, busy, NULL);
	pthread_create(&thread, NULL, idle, NULL);
	say("ready");
	/* Unbuffered: a forked child reads the lines that come after. */
	setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "step"))
			step();
		else if (!strcmp(line, "fork"))
			branch_off();
		else if (!strcmp(line, "pause"))
			epitaph_pause();
		else if (!strcmp(line, "resume"))
			epitaph_resume();
		else if (!strcmp(line, "crash"))
			abort();
		if (strcmp(line, "fork"))
			say(line);
	}
	return 0;
}

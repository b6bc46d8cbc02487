/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budgeted.c: functions of each kind that the budget tells apart, until it is killed. Says "done"
 * when they have run often enough for it. SIGUSR1 forks a child, which waits, and whose pid it
 * says. With -DLEAVES the hot ones alone, with -DMAIN all but those.
 */
#include <epitaph.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 200
#define APART  __attribute__((noinline))

#ifdef MAIN
void leaf(void);
void small(int n);
void kept(void);
#else
static volatile unsigned long sum;

APART void leaf(void)
{
	sum++;
}

APART void small(int n)
{
	sum += (unsigned long)n;
}

/* As hot as they are, and wanted. */
DOFUNTRACE APART void kept(void)
{
	sum++;
}
#endif

#ifndef LEAVES
static volatile unsigned long work;
static volatile sig_atomic_t asked;

APART void waits(void)
{
	struct timespec little = {0, 200000};

	nanosleep(&little, NULL);
}

/* 200 us of any processor. */
APART void works(void)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	do {
		for (int i = 0; i < 1000; i++)
			work++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec < 200000);
}

APART void turn(void)
{
	for (int i = 0; i < 10000; i++) {
		leaf();
		small(i);
		kept();
	}
	waits();
	works();
}

APART void have_child(void)
{
	pid_t child = fork();

	if (!child) {
		alarm(60);
		for (;;)
			pause();
	}
	printf("child %d\n", (int)child);
}

static void ask(int number)
{
	(void)number;
	asked = 1;
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGUSR1, ask);
	signal(SIGCHLD, SIG_IGN);
	alarm(150);
	for (unsigned long i = 1;; i++) {
		turn();
		if (i == ROUNDS)
			puts("done");
		if (!asked)
			continue;
		asked = 0;
		have_child();
	}
}
#endif

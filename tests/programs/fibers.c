/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fibers.c: stacks that a thread goes on with in turn, by ucontext and by longjmp between stacks,
 * each in the middle of calls of its own; with a log as jumps.cc has, in the order of events, and
 * beside each the fiber. Arguments: "linked" (each fiber ends by returning into uc_link), "jumping"
 * (switched by sigsetjmp and siglongjmp once they run), "forever" (fibers don't end).
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function, always_inline)) inline
#define FLOW  __attribute__((noinline))

#define FIBERS 5
#ifndef EVENTS
#define EVENTS 20000
#endif

struct fiber {
	ucontext_t context;
	sigjmp_buf place;
	int begun, over;
	char stack[128 << 10];
};

static struct fiber fibers[FIBERS + 1]; /* the last is main's */
static int now = FIBERS, jumping, linked;
static unsigned state = 4711, count;
static struct {
	char kind;
	int fiber;
	const char *name;
} entries[EVENTS + 1000];

static QUIET void note(char kind, const char *name)
{
	entries[count].kind = kind;
	entries[count].fiber = now;
	entries[count++].name = name;
}

static QUIET unsigned chance(unsigned n)
{
	state = state * 1103515245 + 12345;
	return (state >> 16) % n;
}

/* On to fiber `to`; returns when somebody switches back. */
FLOW static void flow_yield(int to)
{
	int from = now;

	note('B', "yield");
	if (to != from && !fibers[to].over) {
		now = to;
		if (!jumping || !fibers[to].begun) {
			fibers[to].begun = 1;
			fibers[from].begun = jumping ? fibers[from].begun : 1;
			if (!jumping)
				swapcontext(&fibers[from].context, &fibers[to].context);
			else if (sigsetjmp(fibers[from].place, 0) == 0)
				setcontext(&fibers[to].context);
		} else if (sigsetjmp(fibers[from].place, 0) == 0) {
			siglongjmp(fibers[to].place, 1);
		}
	}
	note('E', "yield");
}

FLOW static void flow_leaf(void)
{
	note('B', "leaf");
	note('E', "leaf");
}

FLOW static void flow_work(int n)
{
	note('B', "work");
	for (int i = 0; i < 3 && n > 0; i++) {
		flow_leaf();
		if (chance(3) == 0)
			flow_yield(chance(FIBERS + 1));
		if (chance(2) == 0)
			flow_work(n - 1);
	}
	note('E', "work");
}

FLOW static void flow_fiber(void)
{
	note('B', "fiber");
	do
		flow_work(6);
	while (!linked && count < EVENTS);
	if (!linked) {
		for (;;)
			flow_yield(FIBERS);
	}
	fibers[now].over = 1;
	note('E', "fiber");
	now = FIBERS;
}

FLOW static void flow_main(void)
{
	note('B', "main");
	while (count < EVENTS) {
		int left = 0;

		for (int i = 0; i < FIBERS; i++)
			left += !fibers[i].over;
		if (!left)
			break;
		flow_yield(chance(FIBERS));
		flow_leaf();
	}
	note('E', "main");
}

FLOW static void flow_last(void)
{
	FILE *file = fopen("truth", "w");

	note('B', "last");
	for (unsigned i = 0; i < count; i++)
		fprintf(file, "%ld %c %s %d\n", (long)getpid(), entries[i].kind, entries[i].name,
			entries[i].fiber);
	fclose(file);
	abort();
}

int main(int argc, char **argv)
{
	linked = argc > 1 && !strcmp(argv[1], "linked");
	jumping = argc > 1 && !strcmp(argv[1], "jumping");
	fibers[FIBERS].begun = 1;
	for (int i = 0; i < FIBERS; i++) {
		getcontext(&fibers[i].context);
		fibers[i].context.uc_stack.ss_sp = fibers[i].stack;
		fibers[i].context.uc_stack.ss_size = sizeof fibers[i].stack;
		fibers[i].context.uc_link = &fibers[FIBERS].context;
		makecontext(&fibers[i].context, flow_fiber, 0);
	}
	flow_main();
	flow_last();
}

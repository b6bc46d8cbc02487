/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jumps.c: setjmp and longjmp out of a recursion, twice to one place, and siglongjmp out of a
 * handler that runs on a stack of its own.
 *
 * 	sets
 * 		dives  left
 * 			dives  left
 * 				dives  left
 * 					longjmp
 * 		leaf
 * 		dives  left
 * 			longjmp
 * 		leaf
 * 	stops
 * 		raises  left
 * 			handler  left
 * 				leaf
 * 				longjmp
 * 		leaf
 * 	last  open
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "flow.h"

static jmp_buf back;
static sigjmp_buf out;

FLOW static void flow_leaf(void)
{
	DONE;
}

FLOW static void flow_dives(int n)
{
	if (n == 0)
		longjmp(back, 1);
	flow_dives(n - 1);
	DONE;
}

FLOW static void flow_sets(void)
{
	static int times;

	times = 0;
	if (setjmp(back) == 0)
		flow_dives(2);
	flow_leaf();
	if (times++ == 0)
		flow_dives(0);
	DONE;
}

FLOW static void flow_handler(int number)
{
	flow_leaf();
	siglongjmp(out, number);
}

FLOW static void flow_raises(void)
{
	raise(SIGUSR1);
	DONE;
}

FLOW static void flow_stops(void)
{
	if (sigsetjmp(out, 1) == 0)
		flow_raises();
	flow_leaf();
	DONE;
}

FLOW static void flow_last(void)
{
	abort();
}

int main(void)
{
	static char stack[65536];
	stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = flow_handler, .sa_flags = SA_ONSTACK};

	sigaltstack(&own, NULL);
	sigaction(SIGUSR1, &action, NULL);
	flow_sets();
	flow_stops();
	flow_last();
}

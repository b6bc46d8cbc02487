/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signals.c: a handler on a stack of its own, a second one that interrupts the first, one that dies
 * there. (Signals that come by chance into hooks: storm.c.)
 *
 * 	raises
 * 		leaf
 * 		first
 * 			leaf
 * 			second
 * 				leaf
 * 			leaf
 * 		leaf
 * 	faults  open
 * 		fatal  open
 * 			leaf
 */
#include <signal.h>
#include <stdlib.h>

#include "flow.h"

static int *volatile nowhere;

FLOW static void flow_leaf(void)
{
	DONE;
}

FLOW static void flow_second(int number)
{
	(void)number;
	flow_leaf();
	DONE;
}

FLOW static void flow_first(int number)
{
	(void)number;
	flow_leaf();
	raise(SIGUSR2);
	flow_leaf();
	DONE;
}

FLOW static void flow_fatal(int number)
{
	(void)number;
	flow_leaf();
	abort();
}

FLOW static void flow_raises(void)
{
	flow_leaf();
	raise(SIGUSR1);
	flow_leaf();
	DONE;
}

FLOW static void flow_faults(void)
{
	*nowhere = 1;
	DONE;
}

QUIET static void handle(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	sigaction(number, &action, NULL);
}

int main(void)
{
	static char stack[65536];
	stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};

	sigaltstack(&own, NULL);
	handle(SIGUSR1, flow_first);
	handle(SIGUSR2, flow_second);
	handle(SIGSEGV, flow_fatal);
	flow_raises();
	flow_faults();
}

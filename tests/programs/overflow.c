/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overflow.c: dies of SIGSEGV on a deep stack.
 *
 * 	overflow handler           a bad write; a handler on a stack of its own
 * 	overflow overflow          the stack overflows
 * 	overflow overflow-handler  the same, and the handler aborts
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noinline, noipa))

static char other_stack[64 << 10] __attribute__((aligned(4096)));
static volatile int *volatile nowhere = (int *)8;

static void handle(int signal)
{
	(void)signal;
	abort();
}

KEPT static int descend(int depth)
{
	volatile char room[200];

	room[0] = (char)depth;
	if (depth == 0)
		*nowhere = 1;
	else
		descend(depth - 1);
	return room[0];
}

KEPT static int descend_for_ever(int depth)
{
	volatile char room[2000];

	room[0] = (char)depth;
	if (depth >= 0)
		descend_for_ever((depth + 1) & 0xffff);
	return room[0];
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "handler";

	if (strstr(mode, "handler")) {
		stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
		struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

		sigaltstack(&stack, NULL);
		sigaction(SIGSEGV, &action, NULL);
	}
	return strstr(mode, "overflow") ? descend_for_ever(0) : descend(1000);
}

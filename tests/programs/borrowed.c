/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * borrowed.c: a clone without libc, in main's thread-local memory, calls before main ever did; then
 * main does, for blocks, and aborts. `borrowed [few]`: main calls twice only.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLOW  __attribute__((noinline))
#define QUIET __attribute__((noinline, no_instrument_function))

static volatile int sink;

FLOW static void flow_child(void)
{
	sink++;
}

FLOW static void flow_main(void)
{
	sink++;
}

QUIET static int child(void *unused)
{
	(void)unused;
	flow_child();
	syscall(SYS_exit, 0);
	return 0;
}

QUIET int main(int count, char **words)
{
	static char stack[65536] __attribute__((aligned(64)));

	(void)words;
	clone(child, stack + sizeof(stack),
	      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_VFORK | SIGCHLD, NULL);
	wait(NULL);
	for (int i = 0; i < (count > 1 ? 2 : 2000); i++)
		flow_main();
	abort();
}

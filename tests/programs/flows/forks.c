/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forks.c: a child that dies: the trace is the child's own, without what its parent did before; the
 * calls that it was in are known once they return.
 *
 * 	leaf
 * 	outer  before
 * 	last  open
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow.h"

FLOW static void flow_leaf(void)
{
	DONE;
}

FLOW static pid_t flow_outer(void)
{
	pid_t pid;

	flow_leaf();
	pid = fork();
	if (pid == 0)
		flow_leaf();
	DONE;
	return pid;
}

FLOW static void flow_last(void)
{
	abort();
}

int main(void)
{
	pid_t pid = flow_outer();

	if (pid == 0)
		flow_last();
	waitpid(pid, 0, 0);
	flow_leaf();
}

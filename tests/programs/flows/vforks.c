/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vforks.c: children in their parent's memory (vfork, posix_spawn), which call
 * and exec while it waits: the parent's depth is what it was.
 *
 *	leaf
 *	outer
 *		child  left
 *			leaf
 *	spawns
 *	leaf
 *	last  open
 */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow.h"

extern char **environ;

FLOW static void flow_leaf(void)
{
	DONE;
}

FLOW static void flow_child(void)
{
	flow_leaf();
	execl("/bin/true", "true", (char *)0);
	_exit(1);
}

FLOW static void flow_outer(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		flow_child();
	waitpid(pid, 0, 0);
	DONE;
}

FLOW static void flow_spawns(void)
{
	char *words[] = {"true", 0};
	pid_t pid;

	posix_spawn(&pid, "/bin/true", 0, 0, words, environ);
	waitpid(pid, 0, 0);
	DONE;
}

FLOW static void flow_last(void)
{
	abort();
}

int main(void)
{
	flow_leaf();
	flow_outer();
	flow_spawns();
	flow_leaf();
	flow_last();
}

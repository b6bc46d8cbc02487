/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vforks.c: children in their parent's memory (vfork, posix_spawn), which call while it waits, and
 * exec or exit deep in calls: the parent goes on at the level where it was, also where a recursion
 * spans the vfork, and where it is a child itself.
 *
 * 	leaf
 * 	outer
 * 		child  left
 * 			leaf
 * 	again
 * 		again
 * 			again
 * 				again  left
 * 					again  left
 * 						leaf
 * 						again  left
 * 							leaf
 * 				leaf
 * 			leaf
 * 		leaf
 * 	nest
 * 		nest  left
 * 			nest  left
 * 				leaf
 * 				again  left
 * 					again  left
 * 						leaf
 * 						again  left
 * 							leaf
 * 			leaf
 * 			again  left
 * 				again  left
 * 					leaf
 * 					again  left
 * 						leaf
 * 		leaf
 * 	spawns
 * 	leaf
 * 	last  open
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

/* From the third on in a child, which ends in the sixth. */
FLOW static void flow_again(int depth)
{
	if (depth > 4)
		flow_leaf();
	if (depth == 6)
		_exit(0);
	if (depth == 3) {
		pid_t pid = vfork();

		if (pid == 0)
			flow_again(4);
		waitpid(pid, 0, 0);
	} else {
		flow_again(depth + 1);
	}
	flow_leaf();
	DONE;
}

FLOW static void flow_nest(int depth)
{
	pid_t pid;

	if (depth == 3) {
		flow_leaf();
		flow_again(4);
	}
	pid = vfork();
	if (pid == 0)
		flow_nest(depth + 1);
	waitpid(pid, 0, 0);
	flow_leaf();
	if (depth > 1)
		flow_again(4);
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
	flow_again(1);
	flow_nest(1);
	flow_spawns();
	flow_leaf();
	flow_last();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* forks.c: a traced process forks; the child traces calls of its own and
 * aborts, the parent goes on and ends with 0. `forks fork|raw` */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

KEPT void in_parent(void)
{
	__asm__ volatile("");
}

KEPT void in_child(void)
{
	__asm__ volatile("");
}

KEPT void die(void)
{
	abort();
}

int main(int argc, char **argv)
{
	int raw = argc > 1 && !strcmp(argv[1], "raw"), status;
	pid_t child;

	for (int i = 0; i < 3000; i++)
		in_parent();
	child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	if (!child) {
		for (int i = 0; i < 3000; i++)
			in_child();
		die();
	}
	for (int i = 0; i < 3000; i++)
		in_parent();
	waitpid(child, &status, 0);
	return !(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

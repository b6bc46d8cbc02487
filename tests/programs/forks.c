/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forks.c: a traced process makes a child, by fork, raw, _Fork, clone or vfork; the child traces
 * calls of its own and aborts, the parent goes on and ends with 0. `forks HOW`. With `both` the
 * child dies at once, and so does the parent after it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

static int both;

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

__attribute__((no_instrument_function)) static int child(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3000 && !both; i++)
		in_child();
	die();
	return 0;
}

__attribute__((no_instrument_function)) static pid_t make(const char *how)
{
	static char stack[65536] __attribute__((aligned(16)));

	if (!strcmp(how, "raw"))
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!strcmp(how, "_Fork"))
		return _Fork();
	if (!strcmp(how, "clone"))
		return clone(child, stack + sizeof(stack), SIGCHLD, NULL);
	return fork();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "fork";
	int status;
	pid_t pid;

	both = argc > 2;
	for (int i = 0; i < 3000; i++)
		in_parent();
	pid = strcmp(how, "vfork") ? make(how) : vfork();
	if (!pid)
		child(NULL);
	printf("%d %d\n", getpid(), pid);
	fflush(stdout);
	for (int i = 0; i < 3000; i++)
		in_parent();
	waitpid(pid, &status, 0);
	if (both)
		die();
	return !(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

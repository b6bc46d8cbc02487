/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shared_memory.c WHERE: a task that shares its maker's memory, its thread-local memory too (clone
 * without CLONE_SETTLS, as helpers of crash reporters and leak checkers are), calls beside it.
 * WHERE its stack is: out (memory of its own), in (an array of its maker's). Dies when it has gone.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define CALLS 30000
#define STACK 65536

static volatile long sum, other_sum, ready, over;

__attribute__((noinline)) static void own_leaf(long n)
{
	sum += n;
}

__attribute__((noinline)) static void own(long n)
{
	own_leaf(n);
	sum++;
}

__attribute__((noinline)) static void other_leaf(long n)
{
	other_sum += n;
}

__attribute__((noinline)) static void other(long n)
{
	other_leaf(n);
	other_sum++;
}

__attribute__((noinline)) static int helper(void *unused)
{
	(void)unused;
	ready = 1;
	for (long i = 0; i < CALLS; i++)
		other(i);
	ready = 2;
	while (!over)
		sched_yield();
	return 0;
}

int main(int count, char **words)
{
	char room[STACK], *stack = room;
	int pid;

	if (count < 2 || !strcmp(words[1], "out"))
		stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	for (long i = 0; i < 1000; i++)
		own(i);
	pid = clone(helper, stack + STACK - 64, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
	if (pid < 0)
		return 2;
	while (!ready)
		sched_yield();
	for (long i = 0; i < CALLS; i++)
		own(i);
	while (ready != 2)
		own(-1);
	over = 1;
	waitpid(pid, NULL, 0);
	for (long i = 0; i < 1000; i++)
		own(i);
	*(volatile int *)8 = 1;
	return 0;
}

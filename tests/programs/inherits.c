/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherits.c [DIRECTORY]: goes there, and forks; says when, and who the child is as the kernel has
 * it, which dies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static int work(int x)
{
	__asm__ volatile("");
	return x + 1;
}

static void say_time(const char *what)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	printf("%s %lld%09ld\n", what, (long long)now.tv_sec, now.tv_nsec);
}

static void child(void)
{
	work(1);
	say_time("after");
	printf("pid %d\n", getpid());
	fflush(stdout);
	abort();
}

int main(int count, char **arguments)
{
	int status;

	work(0);
	if (count > 1 && chdir(arguments[1]))
		return 1;
	say_time("before");
	fflush(stdout);
	if (!fork())
		child();
	return wait(&status) < 0 || !WIFSIGNALED(status);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherits.c [DIRECTORY [LIBRARY]]: goes there, loads the library and unloads it, and forks; says
 * when, and who the child is as the kernel has it, which dies.
 */
#include <dlfcn.h>
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

/* With a call in between, by which the runtime may notice that it came. */
static int come_and_go(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);

	work(2);
	if (!handle || dlclose(handle))
		return 0;
	work(3);
	return 1;
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
	if (count > 2 && !come_and_go(arguments[2]))
		return 1;
	say_time("before");
	fflush(stdout);
	if (!fork())
		child();
	return wait(&status) < 0 || !WIFSIGNALED(status);
}

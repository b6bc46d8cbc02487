/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counted.c: calls whose numbers are known by reading this. `counted HOW [N]`: main calls once()
 * once and twice() twice, a constructor and a destructor call before() 3 and after() 4 times, and
 * then it ends as HOW says.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <epitaph.h>

#define KEPT __attribute__((noinline))

#define FUNCTION(name)                \
	KEPT static void name(void)   \
	{                             \
		__asm__ volatile(""); \
	}

FUNCTION(once)
FUNCTION(twice)
FUNCTION(before)
FUNCTION(after)
FUNCTION(in_thread)
FUNCTION(in_handler)
FUNCTION(in_child)
FUNCTION(paused)
FUNCTION(resumed)
FUNCTION(at_end)

NOFUNTRACE KEPT static void never(void)
{
	__asm__ volatile("");
}

KEPT __attribute__((constructor)) static void construct(void)
{
	for (int i = 0; i < 3; i++)
		before();
}

KEPT __attribute__((destructor)) static void destruct(void)
{
	for (int i = 0; i < 4; i++)
		after();
}

static long number = 100;

KEPT static void *thread(void *unused)
{
	(void)unused;
	for (int i = 0; i < 50; i++)
		in_thread();
	return NULL;
}

/* Eight at a time. */
KEPT static void threads(void)
{
	pthread_t all[8];

	for (long done = 0; done < number; done += 8) {
		for (int i = 0; i < 8; i++)
			pthread_create(&all[i], NULL, thread, NULL);
		for (int i = 0; i < 8; i++)
			pthread_join(all[i], NULL);
	}
}

KEPT static void on_signal(int signal)
{
	(void)signal;
	in_handler();
}

KEPT static void signals(void)
{
	signal(SIGUSR1, on_signal);
	for (long i = 0; i < number; i++)
		raise(SIGUSR1);
}

KEPT static void child(void)
{
	for (int i = 0; i < 7; i++)
		in_child();
}

KEPT static void forks(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		child();
		exit(0);
	}
	waitpid(pid, NULL, 0);
	printf("child %d\n", pid);
}

KEPT static void pauses(void)
{
	epitaph_pause();
	paused();
	epitaph_resume();
	resumed();
	epitaph_thread_pause();
	paused();
	epitaph_thread_resume();
	resumed();
}

KEPT static void overflow(long depth)
{
	volatile char room[4096];

	room[0] = (char)depth;
	overflow(depth + room[0]);
}

NOFUNTRACE static void end(const char *how, char *argv[])
{
	char *other[] = {argv[0], "exit", NULL};

	at_end();
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "_Exit"))
		_Exit(3);
	if (!strcmp(how, "quick_exit"))
		quick_exit(3);
	if (!strcmp(how, "execv"))
		execv(argv[0], other);
	if (!strcmp(how, "execlp"))
		execlp("true", "true", NULL);
	if (!strcmp(how, "failing-exec")) {
		execl("/does/not/exist", "x", NULL);
		at_end();
	}
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "overflow"))
		overflow(1);
	if (!strncmp(how, "signal-", 7))
		raise(atoi(how + 7));
	if (!strcmp(how, "default-again")) {
		signal(SIGTERM, on_signal);
		signal(SIGTERM, SIG_DFL);
		raise(SIGTERM);
	}
	if (!strcmp(how, "own-handler")) {
		signal(SIGTERM, on_signal);
		raise(SIGTERM);
	}
	if (!strcmp(how, "wait"))
		pause();
}

KEPT int main(int argc, char *argv[])
{
	const char *how = argc > 1 ? argv[1] : "exit";

	if (argc > 2)
		number = atol(argv[2]);
	once();
	twice();
	twice();
	never();
	if (!strcmp(how, "threads"))
		threads();
	if (!strcmp(how, "signals"))
		signals();
	if (!strcmp(how, "fork"))
		forks();
	if (!strcmp(how, "pause"))
		pauses();
	end(how, argv);
	return 0;
}

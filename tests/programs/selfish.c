/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * selfish.c: what threads ask for themselves: pauses that nest, in signal handlers, before their
 * first event and across a fork; to be ignored; rings and timing of their own. Functions named
 * hidden… must not be in the trace, those named shown… must, as often as they are called. Then it
 * aborts; the forked child writes a snapshot to the file named by the first argument.
 */
#define _GNU_SOURCE
#include <epitaph.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT  __attribute__((noinline))
#define CALLS 20000 /* 80,000 records of call and return, 157 blocks a pair */

KEPT void hidden(void)
{
	__asm__ volatile("");
}

KEPT void shown(void)
{
	__asm__ volatile("");
}

KEPT void shown_in_large_ring(void)
{
	__asm__ volatile("");
}

KEPT void shown_in_child(void)
{
	__asm__ volatile("");
}

NOFUNTRACE static void must(int right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* Before main, in a thread that has recorded nothing. */
NOFUNTRACE __attribute__((constructor)) static void early(void)
{
	epitaph_thread_resume(); /* without a pause: ignored */
	epitaph_thread_pause();
	hidden();
	epitaph_thread_pause();
	epitaph_thread_resume();
	hidden();
	epitaph_thread_resume();
	shown();
}

static void on_signal(int signal)
{
	(void)signal;
	shown();
	epitaph_thread_pause();
	hidden();
}

/* The handler pauses; whom it interrupted resumes. */
KEPT static void paused_by_handler(void)
{
	signal(SIGUSR1, on_signal);
	pthread_kill(pthread_self(), SIGUSR1);
	hidden();
	epitaph_thread_resume();
	shown();
}

/* Threads begin untraced, so that what they ask for comes before any event. */
NOFUNTRACE static void *ignored(void *unused)
{
	pthread_setname_np(pthread_self(), "ignored");
	epitaph_ignore_thread();
	epitaph_thread_resume();
	hidden();
	errno = 0;
	must(epitaph_set_thread_ring(1 << 20) == -1 && errno == ENODEV,
	     "a ring for an ignored thread");
	return unused;
}

NOFUNTRACE static void *ignored_later(void *unused)
{
	pthread_setname_np(pthread_self(), "ignored-later");
	shown();
	epitaph_ignore_thread();
	hidden();
	return unused;
}

NOFUNTRACE static void *large(void *unused)
{
	pthread_setname_np(pthread_self(), "large");
	shown_in_large_ring();
	must(!epitaph_set_thread_ring(1000000), "a ring of 1 MiB");
	for (int i = 1; i < CALLS; i++)
		shown_in_large_ring();
	errno = 0;
	must(epitaph_set_thread_ring(4095) == -1 && errno == EINVAL, "a ring too small");
	must(epitaph_set_thread_ring((size_t)1 << 30) == -1 && errno == ENOMEM,
	     "a ring larger than all memory");
	shown_in_large_ring();
	return unused;
}

NOFUNTRACE static void *timed(void *every)
{
	char name[16];

	snprintf(name, sizeof(name), "timed-%d", *(int *)every);
	pthread_setname_np(pthread_self(), name);
	must(!epitaph_set_thread_timing((unsigned)*(int *)every), "timing");
	must(epitaph_set_thread_timing(3) == -1 && errno == EINVAL, "one in three");
	for (int i = 0; i < CALLS; i++)
		shown();
	return NULL;
}

NOFUNTRACE static void run(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, function, argument), "a thread");
	pthread_join(thread, NULL);
}

/* A pause of the thread that forks is one of the child's thread too. */
NOFUNTRACE static void across_fork(const char *path)
{
	int status;
	pid_t child;

	epitaph_thread_pause();
	child = fork();
	if (child == 0) {
		hidden();
		epitaph_thread_resume();
		shown_in_child();
		must(!epitaph_snapshot_write(path), "the child's snapshot");
		_exit(0);
	}
	waitpid(child, &status, 0);
	must(status == 0, "the child failed");
	hidden();
	epitaph_thread_resume();
}

int main(int argc, char *argv[])
{
	int one = 1, eight = 8;

	must(argc == 2, "usage: selfish FILE");
	must(epitaph_present(), "no runtime");
	errno = EBADF;
	paused_by_handler();
	must(errno == EBADF, "errno");
	run(ignored, NULL);
	run(ignored_later, NULL);
	run(large, NULL);
	run(timed, &one);
	run(timed, &eight);
	across_fork(argv[1]);
	shown();
	abort();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lasting.c: a traced process that dies without a core, and keeps a log of its own to compare its
 * trace with.
 *
 * lasting die [N]     N calls (1000), then SIGKILL
 * lasting wait        calls, says "ready", ends when stdin does
 * lasting exec P [A]  calls, then exec
 * lasting forks HOW   fork, _Fork, raw or assembly: the child calls in_child
 *                     and is killed, as is the parent, that calls in_parent
 * lasting goon        three threads call in_child until stdin ends; there are
 *                     SIGBUS of the program's own meanwhile; then abort
 * lasting storm N     N children, each killed at a random moment; prints for
 *                     each its pid, the steps begun and those done
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

KEPT void step_0(void)
{
	__asm__ volatile("");
}

KEPT void step_1(void)
{
	__asm__ volatile(" ");
}

KEPT void step_2(void)
{
	__asm__ volatile("  ");
}

KEPT void step_3(void)
{
	__asm__ volatile("   ");
}

struct log {
	volatile unsigned long begun, done;
};

/* Which function step `n` calls: anybody can compute it. */
KEPT __attribute__((no_instrument_function)) static void step(unsigned long n)
{
	static void (*const steps[])(void) = {step_0, step_1, step_2, step_3};

	steps[(n * 2654435761ul >> 7) % 4]();
}

__attribute__((no_instrument_function)) static void walk(struct log *log)
{
	for (unsigned long n = 1;; n++) {
		log->begun = n;
		step(n);
		log->done = n;
	}
}

static void storm(int count)
{
	struct log *log =
		mmap(NULL, sizeof *log, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	srand(7);
	for (int i = 0; i < count; i++) {
		pid_t child;

		log->begun = log->done = 0;
		child = fork();
		if (!child)
			walk(log);
		/* Half of them while they still make their file. */
		for (int k = 0; i % 2 == 0 && k < 20000 && !log->begun; k++)
			usleep(200);
		usleep((unsigned)rand() % (i % 2 ? 5000 : 2000));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		printf("%d %lu %lu\n", child, log->begun, log->done);
	}
}

/* Past all that could be told of it. */
static pid_t fork_by_assembly(void)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(SYS_fork) : "rcx", "r11", "memory");
	return (pid_t)result;
}

static pid_t fork_by(const char *how)
{
	if (!strcmp(how, "raw"))
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!strcmp(how, "assembly"))
		return fork_by_assembly();
	return strcmp(how, "_Fork") ? fork() : _Fork();
}

static void forks(const char *how)
{
	pid_t child;

	for (int i = 0; i < 3000; i++)
		in_parent();
	child = fork_by(how);
	if (!child) {
		for (int i = 0; i < 3000; i++)
			in_child();
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
	for (int i = 0; i < 3000; i++)
		in_parent();
	printf("%d %d\n", getpid(), child);
	fflush(stdout);
	raise(SIGKILL);
}

/* ---- going on without the file ---- */

static volatile int stop;
static volatile char *own_page;
static volatile sig_atomic_t buses;

static void *call_on(void *unused)
{
	while (!stop)
		for (int i = 0; i < 1000; i++)
			in_child();
	return unused;
}

static void own_bus(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (signal != SIGBUS || info->si_addr != own_page)
		_exit(3);
	buses++;
	mmap((void *)own_page, 4096, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* A page beyond the end of a file. */
static void raise_bus(void)
{
	int fd = memfd_create("empty", 0);

	own_page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (own_page[0])
		_exit(4);
}

static void go_on(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO}, got;
	pthread_t threads[3];

	action.sa_sigaction = own_bus;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, call_on, NULL);
	puts("ready");
	fflush(stdout);
	getchar();
	/* Its own, installed late. */
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGBUS, NULL, &got);
	raise_bus();
	usleep(50000);
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 700; i++)
		in_parent();
	if (buses != 1 || got.sa_sigaction != own_bus)
		_exit(5);
	abort();
}

int main(int argc, char **argv)
{
	int calls = argc > 2 && !strcmp(argv[1], "die") ? atoi(argv[2]) : 1000;

	if (argc > 2 && !strcmp(argv[1], "storm")) {
		storm(atoi(argv[2]));
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "goon"))
		go_on();
	if (argc > 2 && !strcmp(argv[1], "forks"))
		forks(argv[2]);
	for (int i = 0; i < calls; i++)
		in_parent();
	if (argc > 2 && !strcmp(argv[1], "exec"))
		execv(argv[2], argv + 2);
	if (argc > 1 && !strcmp(argv[1], "wait")) {
		puts("ready");
		fflush(stdout);
		getchar();
		return 0;
	}
	raise(SIGKILL);
	return 1;
}

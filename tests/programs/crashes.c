/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crashes.c: a traced program dies in many ways: `crashes HOW`. What it does to its signals it
 * checks itself, and says on stdout; "wrong: …" is a failure.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

static volatile int *nowhere;
static sigjmp_buf back;
static pthread_barrier_t together;

KEPT void leaf(void)
{
	__asm__ volatile("");
}

KEPT void segv(void)
{
	leaf();
	*(volatile int *)0x1234 = 1;
}

KEPT int overflow(int n)
{
	volatile char room[512];

	room[0] = (char)n;
	return overflow(n + 1) + room[0];
}

KEPT void *overflow_thread(void *unused)
{
	overflow(1);
	return unused;
}

KEPT void *crash_together(void *unused)
{
	leaf();
	pthread_barrier_wait(&together);
	segv();
	return unused;
}

KEPT void *sit(void *unused)
{
	leaf();
	pthread_barrier_wait(&together);
	pause();
	return unused;
}

static void wait_for(int count, void *(*run)(void *))
{
	pthread_t thread;

	pthread_barrier_init(&together, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++)
		pthread_create(&thread, NULL, run, NULL);
	pthread_barrier_wait(&together);
}

/* Heap that malloc trips over. */
KEPT void inside_malloc(void)
{
	size_t *block = malloc(24);

	block[3] = 0x41414141;
	free(malloc(100000));
	for (int i = 0; i < 100; i++)
		leaf();
	block = malloc(200000);
	abort();
}

/* ---- the program's own handlers ---- */

static void check(int good, const char *what)
{
	if (!good)
		printf("wrong: %s\n", what);
}

static void recover(int signal, siginfo_t *info, void *context)
{
	check(signal == SIGSEGV && info->si_addr == (void *)0x1234 && context,
	      "the handler's arguments");
	siglongjmp(back, 1);
}

static void report_and_die(int number)
{
	char line[] = "handled\n";

	if (write(1, line, sizeof line - 1) < 0)
		_exit(9);
	signal(number, SIG_DFL);
	raise(number);
}

/* What it sets is what it gets, and what runs. */
static void own_handler(void)
{
	struct sigaction mine = {.sa_flags = SA_SIGINFO | SA_NODEFER}, got;

	mine.sa_sigaction = recover;
	sigaddset(&mine.sa_mask, SIGUSR1);
	check(!sigaction(SIGSEGV, NULL, &got), "sigaction");
	check(got.sa_handler == SIG_DFL, "the first action is the default");
	check(!sigaction(SIGSEGV, &mine, NULL), "setting it");
	check(!sigaction(SIGSEGV, NULL, &got), "asking for it");
	check(got.sa_sigaction == recover, "its own handler");
	/* The C library shows a bit of its own, SA_RESTORER. */
	check((got.sa_flags & ~0x04000000) == (SA_SIGINFO | SA_NODEFER), "its own flags");
	check(sigismember(&got.sa_mask, SIGUSR1) == 1 && sigismember(&got.sa_mask, SIGUSR2) == 0,
	      "its own mask");
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			segv();
	check(signal(SIGSEGV, report_and_die) == (void (*)(int))recover, "signal's result");
	check(signal(SIGFPE, SIG_IGN) == SIG_DFL, "SIGFPE");
	raise(SIGFPE);
	check(signal(SIGFPE, SIG_DFL) == SIG_IGN, "SIGFPE, ignored");
	fflush(stdout);
	segv();
}

static void reset_hand(int signal)
{
	check(signal == SIGABRT, "the signal");
	puts("handled");
	fflush(stdout);
}

KEPT static void die_by(const char *how)
{
	if (!strcmp(how, "segv"))
		segv();
	if (!strcmp(how, "overflow"))
		overflow(0);
	if (!strcmp(how, "malloc"))
		inside_malloc();
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "trap"))
		__builtin_trap();
	if (!strcmp(how, "breakpoint"))
		__asm__ volatile("int3");
	if (!strcmp(how, "fpe"))
		__asm__ volatile("xorl %%ecx, %%ecx\n\tmovl $1, %%eax\n\t"
				 "cltd\n\tidivl %%ecx"
				 :
				 :
				 : "eax", "ecx", "edx");
	if (!strcmp(how, "raise"))
		raise(SIGSEGV);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	leaf();
	if (argc > 2)
		prctl(PR_SET_DUMPABLE, 1);
	if (!strcmp(how, "own"))
		own_handler();
	if (!strcmp(how, "resethand")) {
		struct sigaction once = {.sa_flags = (int)SA_RESETHAND};

		once.sa_handler = reset_hand;
		sigaction(SIGABRT, &once, NULL);
		raise(SIGABRT);
		raise(SIGABRT);
	}
	if (!strcmp(how, "overflow-thread")) {
		pthread_t thread;

		pthread_create(&thread, NULL, overflow_thread, NULL);
		pthread_join(thread, NULL);
	}
	if (!strcmp(how, "together")) {
		wait_for(8, crash_together);
		pause();
	}
	if (!strcmp(how, "others")) {
		wait_for(3, sit);
		segv();
	}
	die_by(how);
	return nowhere != NULL;
}

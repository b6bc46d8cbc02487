/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intervals.c: when calls were made, by the program's own clock, among waits of all kinds that the
 * kernel's way of asking for times (runtime/record/asks.h) may be wrong about: `intervals HOW` with
 *
 * 	sleeps		short waits among tiny calls
 * 	computes	long computations among tiny calls
 * 	unregistered	sleeps, when the thread has taken its rseq area from the kernel
 * 	foreign		sleeps, and a critical section of the program's own behind each
 * 	handler		a signal handler that waits and calls, in the midst of hooks
 * 	vfork		children that call and wait while their maker is away
 *
 * A line for each call of mark(): not before and not after, ns. Then it aborts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEPT   __attribute__((noinline))
#define UNSEEN static inline __attribute__((always_inline))
#define MOST   1000000

static struct {
	long begun, ended;
} made[MOST];
static volatile long count, sink;

UNSEEN long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

KEPT static void mark(long i)
{
	sink += i;
}

KEPT static void tiny(long i)
{
	sink += i;
}

UNSEEN void call(int times)
{
	while (times--) {
		long i = count;

		count = i + 1;
		made[i].begun = now();
		mark(i);
		made[i].ended = now();
	}
}

UNSEEN void tinies(int times)
{
	while (times--)
		tiny(times);
}

static struct rseq *area(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/* As a section that was left leaves it. */
UNSEEN void leave_pointer(void)
{
	static struct rseq_cs own __attribute__((aligned(256)));

	__asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
			 "movq %%rax, %0\n\t"
			 "movq %1, %2\n\t"
			 "jmp 2f\n\t"
			 ".long %c3\n"
			 "1: ud2\n"
			 "2:"
			 : "=m"(own.abort_ip)
			 : "r"(&own), "m"(*(uint64_t *)&area()->rseq_cs), "i"(RSEQ_SIG)
			 : "rax", "memory");
}

KEPT static void in_handler(long i)
{
	sink += i;
}

KEPT static void handler(int number)
{
	nanosleep(&(struct timespec){0, 20000}, NULL);
	for (int i = 0; i < 3; i++)
		in_handler(number);
}

static void interrupt(long every)
{
	static timer_t timer;
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec times = {{0, every}, {0, every}};

	if (every) {
		sigaction(SIGALRM, &action, NULL);
		prctl(PR_SET_TIMERSLACK, 1);
		timer_create(CLOCK_MONOTONIC, &event, &timer);
	}
	timer_settime(timer, 0, &times, NULL);
}

KEPT static void have_child(void)
{
	pid_t child = vfork();

	if (child == 0) {
		call(5);
		nanosleep(&(struct timespec){0, 200000}, NULL);
		call(5);
		_exit(0);
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

UNSEEN void compute(long ns)
{
	long end = now() + ns;

	while (now() < end)
		sink++;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "sleeps";

	memset(made, 1, sizeof(made));
	tinies(3000);
	call(20);
	if (!strcmp(how, "unregistered") &&
	    syscall(SYS_rseq, area(), 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG))
		return 1;
	if (!strcmp(how, "handler")) {
		interrupt(97000);
		while (count < 200000) {
			tinies(20);
			call(10);
		}
		interrupt(0);
	}
	for (int i = 0; i < 300 && strcmp(how, "handler"); i++) {
		tinies(200);
		call(7);
		if (!strcmp(how, "computes"))
			compute(i % 10 ? 30000 : 6000000);
		else if (!strcmp(how, "vfork"))
			have_child();
		else
			usleep(300);
		if (!strcmp(how, "foreign") && i % 30 == 0) {
			leave_pointer();
			call(6);
		}
		call(9);
	}
	for (long i = 0; i < count; i++)
		printf("%ld %ld\n", made[i].begun, made[i].ended);
	fflush(stdout);
	abort();
}

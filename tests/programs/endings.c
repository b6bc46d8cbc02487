/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * endings.c: threads that end in every way, one after the other, each named after its way and
 * inside of known calls when it ends: flow_body calls flow_step twice and then flow_end, where it
 * ends. main calls flow_step before, and aborts in flow_crash after. The ways:
 *
 * 	return    returns from all of them
 * 	exit      pthread_exit in flow_end
 * 	cancel    cancelled at a cancellation point in flow_end
 * 	async     cancelled as it computes in flow_end
 * 	c11       thrd_exit in flow_end
 * 	raw       clone(2) without libc, with main's thread-local memory
 * 		  while main waits: its calls are not recorded; ends by the
 * 		  exit system call
 * 	waits     waits in flow_end when the program dies
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#define FLOW  __attribute__((noinline, noclone))
#define QUIET __attribute__((noinline, no_instrument_function))

enum way { RETURN, EXIT, CANCEL, ASYNC, C11, RAW, WAITS };
static const char *const names[] = {"return", "exit", "cancel", "async", "c11", "raw", "waits"};
static volatile int sink;
static sem_t there;

FLOW static void flow_step(void)
{
	sink++;
}

FLOW static void flow_end(enum way way)
{
	sem_post(&there);
	switch (way) {
	case EXIT:
		pthread_exit(NULL);
	case CANCEL:
	case WAITS:
		for (;;)
			pause();
	case ASYNC:
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
		for (;;)
			sink++;
	case C11:
		thrd_exit(0);
	default:
		break;
	}
	sink++;
}

FLOW static void flow_body(enum way way)
{
	flow_step();
	flow_step();
	flow_end(way);
	sink++;
}

QUIET static void *body(void *argument)
{
	enum way way = (enum way)(intptr_t)argument;

	pthread_setname_np(pthread_self(), names[way]);
	flow_body(way);
	return NULL;
}

QUIET static int c11_body(void *argument)
{
	body(argument);
	return 0;
}

QUIET static int raw_body(void *argument)
{
	flow_body((enum way)(intptr_t)argument);
	syscall(SYS_exit, 0);
	return 0;
}

QUIET static void run_raw(void)
{
	static char stack[65536] __attribute__((aligned(64)));

	/* CLONE_VFORK: the parent, whose thread-local memory the child has, goes on when the child
	 * is gone. */
	clone(raw_body, stack + sizeof(stack),
	      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_VFORK | SIGCHLD,
	      (void *)(intptr_t)RAW);
	wait(NULL);
}

QUIET static void run(enum way way)
{
	pthread_t thread;
	thrd_t c11;

	if (way == RAW) {
		run_raw();
		sem_wait(&there);
		return;
	}
	if (way == C11) {
		thrd_create(&c11, c11_body, (void *)(intptr_t)way);
		sem_wait(&there);
		thrd_join(c11, NULL);
		return;
	}
	pthread_create(&thread, NULL, body, (void *)(intptr_t)way);
	sem_wait(&there);
	if (way == CANCEL || way == ASYNC)
		pthread_cancel(thread);
	if (way != WAITS)
		pthread_join(thread, NULL);
}

FLOW static void flow_crash(void)
{
	abort();
}

QUIET int main(void)
{
	sem_init(&there, 0, 0);
	flow_step();
	for (enum way way = RETURN; way <= WAITS; way++)
		run(way);
	flow_crash();
}

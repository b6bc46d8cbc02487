/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fibers_asm.c HOW: three fibers, and main, take turns by assembly of the program's own, which no
 * runtime can see. HOW: fibers; own (the same calls without fibers); handler (a signal's, on a
 * stack of its own); deep (a recursion of 4 MiB); thread (the same in a thread). Then it dies.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIBERS 3
#define ROUNDS 20
#define STACK  65536

void fibers_swap(void **from, void *to);
__asm__(".text\n"
	".globl fibers_swap\n"
	".type fibers_swap, @function\n"
	"fibers_swap:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size fibers_swap, . - fibers_swap\n");

static volatile long sum;
static void *main_stack, *stacks[FIBERS];
static int running, finished;

__attribute__((noinline)) static void leaf(long n)
{
	sum += n;
}

__attribute__((noinline)) static void step(long n)
{
	leaf(n);
	fibers_swap(&stacks[running], main_stack);
	sum++;
}

__attribute__((noinline)) static void task(void)
{
	for (long i = 0; i < ROUNDS; i++) {
		leaf(i);
		step(i);
	}
	finished++;
	fibers_swap(&stacks[running], main_stack);
	abort();
}

__attribute__((noinline)) static void take_turns(void)
{
	for (int i = 0; i < FIBERS; i++) {
		char *memory = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		void **top = (void **)(memory + STACK - 64);

		top[6] = (void *)(uintptr_t)task;
		stacks[i] = top;
	}
	while (finished < FIBERS)
		for (running = 0; running < FIBERS; running++) {
			fibers_swap(&main_stack, stacks[running]);
			leaf(7);
		}
}

static void handler(int signal)
{
	for (int i = 0; i < 50; i++)
		leaf(signal);
}

__attribute__((noinline)) static long deep(long n)
{
	volatile char room[4096];

	room[n % 4096] = 1;
	leaf(n);
	return n ? deep(n - 1) + room[n % 4096] : 0;
}

static void *in_thread(void *unused)
{
	(void)unused;
	sum += deep(1000);
	return NULL;
}

int main(int count, char **words)
{
	const char *how = count > 1 ? words[1] : "fibers";
	pthread_t thread;

	leaf(0);
	if (!strcmp(how, "fibers"))
		take_turns();
	if (!strcmp(how, "own"))
		for (int i = 0; i < 100; i++)
			leaf(i);
	if (!strcmp(how, "handler")) {
		stack_t stack = {.ss_sp = malloc(STACK), .ss_size = STACK};
		struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

		sigaltstack(&stack, NULL);
		sigaction(SIGUSR1, &action, NULL);
		for (int i = 0; i < 10; i++)
			raise(SIGUSR1);
	}
	if (!strcmp(how, "deep"))
		sum += deep(1000);
	if (!strcmp(how, "thread")) {
		pthread_create(&thread, NULL, in_thread, NULL);
		pthread_join(thread, NULL);
	}
	leaf(1);
	*(volatile int *)8 = 1;
	return 0;
}

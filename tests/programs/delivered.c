/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * delivered.c HOW: has a handler for a fatal signal, gets it, and prints what the handler finds of
 * itself: the frame's place, its stack, mask, siginfo and registers. A traced program prints what
 * an untraced one does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

static char stack[1 << 16] __attribute__((aligned(64)));
static char *own_stack = stack;
static volatile int sink;
static sigjmp_buf back;
static const char *how;

static int is(const char *name)
{
	return !strcmp(how, name);
}

/* ---- the handler ---- */

static int is_on_alternate(uint64_t at)
{
	return at - (uint64_t)stack < sizeof stack;
}

/* What lies below its stack is somebody else's. */
static int is_touched(void)
{
	for (char *at = stack; at < own_stack; at++)
		if (*at)
			return 1;
	return 0;
}

static uint64_t mask_now(void)
{
	uint64_t mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, 8);
	return mask;
}

static void print_stack(const stack_t *is)
{
	dprintf(1, "alternate: flags %d, %s, size %zu\n", is->ss_flags,
		is->ss_sp == own_stack ? "its own"
		: is->ss_sp            ? "another's"
				       : "none",
		is->ss_size);
}

static void ask_stack(void)
{
	stack_t now;

	dprintf(1, "sigaltstack: %d\n", sigaltstack(NULL, &now));
	print_stack(&now);
}

static void print_place(const ucontext_t *context, int on_alternate)
{
	uint64_t at = (uint64_t)context;
	uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
	uint64_t floating = (uint64_t)context->uc_mcontext.fpregs;
	uint64_t from = on_alternate ? (uint64_t)stack + sizeof stack : sp;

	print_stack(&context->uc_stack);
	dprintf(1, "on the %s stack, frame %lu below, fpu %lu\n",
		on_alternate                  ? "alternate"
		: sp - at < (uint64_t)1 << 14 ? "interrupted"
					      : "wrong",
		from - at, from - floating);
}

/* The next instruction, and a register of each kind is another. */
static void change(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_RIP] += 2;
	context->uc_mcontext.gregs[REG_RBX] = 77;
	context->uc_mcontext.fpregs->_xmm[1].element[0] = 88;
}

static void handler(int number, siginfo_t *info, void *argument)
{
	ucontext_t *context = argument;
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	int touched = is_touched();
	int error = errno, on = is_on_alternate((uint64_t)&number);

	errno = 0;
	dprintf(1, "below its stack: %s\n", touched ? "touched" : "nothing");
	dprintf(1, "signal %d, code %d, at its address %d, errno %d\n", number, info->si_code,
		number != SIGABRT && (uint64_t)info->si_addr == (number == SIGSEGV ? 0x1230 : pc),
		error);
	print_place(context, on);
	ask_stack();
	dprintf(1, "mask %lx, before %lx\n", mask_now(), *(uint64_t *)&context->uc_sigmask);
	errno = error;
	if (number == SIGILL)
		change(context);
	else if (is("jumps"))
		siglongjmp(back, 1);
	else if (number != SIGABRT && number != SIGSYS)
		_exit(7);
}

/* ---- faults ---- */

/* The stack pointer is at a multiple of 64 where it faults, traced or not: none of these is a leaf,
 * whose room would lie below it. */
KEPT static void fault(void)
{
	volatile char room[64] __attribute__((aligned(64)));

	room[0] = 1;
	errno = 5;
	*(volatile char *)(uint64_t)0x1230 = room[0];
}

/* Memory that the stack has not grown to. */
KEPT static void fault_deep(void)
{
	volatile char room[1 << 20] __attribute__((aligned(4096)));

	room[0] = 1;
	errno = 5;
	*(volatile char *)(uint64_t)0x1230 = room[0];
}

KEPT static int overflow(int depth)
{
	volatile char room[4096];

	room[0] = (char)depth;
	return overflow(depth + 1) + room[0];
}

KEPT static void give_up(void)
{
	volatile char room[64] __attribute__((aligned(64)));

	room[0] = 1;
	abort();
}

KEPT static void go_on(void)
{
	uint64_t after[4] __attribute__((aligned(64)));
	uint64_t rbx = 1, wide[4] = {1, 2, 3, 4};

	__asm__ volatile("movups (%2), %%xmm1\n\t"
			 "movups 16(%2), %%xmm2\n\t"
			 "ud2\n\t"
			 "movups %%xmm1, (%3)\n\t"
			 "movups %%xmm2, 16(%3)"
			 : "+b"(rbx), "=m"(after)
			 : "r"(wide), "r"(after), "m"(wide)
			 : "xmm1", "xmm2");
	dprintf(1, "rbx %lu, vectors %lu %lu %lu %lu\n", rbx, after[0], after[1], after[2],
		after[3]);
}

/* A system call that a filter traps. */
KEPT static void be_filtered(void)
{
	volatile char room[64] __attribute__((aligned(64)));
	struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* its number */
				     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
				     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
				     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog filter = {4, code};

	room[0] = 1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		dprintf(1, "no filter\n");
	__asm__ volatile("syscall" ::"a"(SYS_getpgid), "D"(0) : "rcx", "r11", "memory");
}

/* ---- which of them ---- */

static void *run(void *unused)
{
	if (is("later")) {
		go_on();
		signal(SIGSEGV, SIG_DFL);
	}
	if (is("overflow") || is("later"))
		sink = overflow(0);
	if (is("far"))
		fault_deep();
	if (is("returns"))
		go_on();
	if (is("filter"))
		be_filtered();
	if (is("abort"))
		give_up();
	if (!sigsetjmp(back, 1))
		fault();
	if (is("jumps") && !sigsetjmp(back, 1))
		fault();
	return unused;
}

static void install(int flags)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | flags};

	action.sa_sigaction = handler;
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
	sigaction(SIGSYS, &action, NULL);
}

/* HOW [FLAGS [own]]: s: SA_ONSTACK, n: SA_NODEFER, r: SA_RESETHAND;
 * l: its stack is no larger than most; t: in a thread, too. */
int main(int argc, char **argv)
{
	const char *flags = argc > 2 ? argv[2] : "";
	stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
	pthread_t thread;

	how = argc > 1 ? argv[1] : "";
	if (strchr(flags, 'l'))
		own_stack += sizeof stack - 8192;
	own.ss_size -= (size_t)(own_stack - stack);
	own.ss_sp = own_stack;
	ask_stack();
	if (argc > 3)
		dprintf(1, "%d\n", sigaltstack(&own, NULL));
	if (argc > 4) {
		own.ss_flags = SS_DISABLE;
		dprintf(1, "%d\n", sigaltstack(&own, NULL));
		ask_stack();
	}
	install((strchr(flags, 's') ? SA_ONSTACK : 0) | (strchr(flags, 'n') ? SA_NODEFER : 0) |
		(strchr(flags, 'r') ? (int)SA_RESETHAND : 0));
	if (strchr(flags, 't')) {
		pthread_create(&thread, NULL, run, NULL);
		pthread_join(thread, NULL);
	}
	run(NULL);
	dprintf(1, "it went on\n");
	return 0;
}

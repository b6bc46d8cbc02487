/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeless.c: a program that gives up reading the processor's time, or nearly all system calls, and
 * goes on for more calls than a block of a ring holds.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long done;

static __attribute__((noinline)) void work(unsigned long n)
{
	__asm__ volatile("" : "+r"(n));
	done += n & 1;
}

static __attribute__((noinline)) void works(int many)
{
	for (int i = 0; i < many; i++)
		work((unsigned long)i);
}

static void *thread(void *unused)
{
	works(2000);
	return unused;
}

/* What the kernel's list of mode 1 has, and nothing else; or threads, too. */
static int filter(unsigned action, int threads)
{
	static const int allowed[] = {SYS_write, SYS_exit, SYS_exit_group,
				      /* What libc makes threads with, and ends them. */
				      SYS_clone3, SYS_mmap, SYS_mprotect, SYS_munmap, SYS_futex,
				      SYS_rt_sigprocmask, SYS_madvise, SYS_rseq,
				      SYS_set_robust_list, SYS_brk, SYS_clone,
				      SYS_sched_getaffinity};
	struct sock_filter code[40] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	struct sock_fprog program = {.filter = code, .len = 1};

	for (int i = 0; i < (threads ? 15 : 3); i++) {
		code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								   (unsigned)allowed[i], 0, 1);
		code[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* As a list of what services call: without what is there for debuggers. */
static int forbid(void)
{
	static const int names[] = {SYS_perf_event_open, SYS_process_vm_readv,
				    SYS_process_vm_writev, SYS_ptrace};
	struct sock_filter code[12] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	struct sock_fprog program = {.filter = code, .len = 1};

	for (int i = 0; i < 4; i++) {
		code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								   (unsigned)names[i], 0, 1);
		code[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void say(const char *words)
{
	if (write(1, words, strlen(words)) < 0)
		abort();
}

static void timeless(void)
{
	pthread_t other;
	jmp_buf back;

	works(5000);
	if (setjmp(back) == 0)
		longjmp(back, 1);
	if (pthread_create(&other, NULL, thread, NULL))
		abort();
	pthread_join(other, NULL);
	if (fork() == 0) {
		works(2000);
		_exit(0);
	}
	wait(NULL);
	say("timeless\n");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t other;

	works(1000);
	if (pthread_create(&other, NULL, thread, NULL))
		abort();
	pthread_join(other, NULL);
	if (!strcmp(how, "list")) {
		if (!forbid())
			execv(argv[2], argv + 2);
		return 9;
	}
	if (!strcmp(how, "lives")) { /* until the drain has come */
		for (int i = 0; i < 30; i++) {
			works(1000);
			usleep(10000);
		}
		say("alive\n");
		return 0;
	}
	if (!strncmp(how, "tsc", 3)) {
		if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
			return 9;
		timeless();
		if (!strcmp(how, "tsc-dies"))
			*(volatile int *)NULL = 0;
		return 0;
	}
	if (!strcmp(how, "strict")        ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
	    : !strcmp(how, "strict-call") ? syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL)
	    : !strcmp(how, "filter")      ? filter(SECCOMP_RET_KILL_PROCESS, 0)
	    : !strcmp(how, "trap")        ? filter(SECCOMP_RET_TRAP, 0)
					  : filter(SECCOMP_RET_KILL_PROCESS, 1))
		return 9;
	works(30000);
	if (!strcmp(how, "threads")) {
		if (pthread_create(&other, NULL, thread, NULL))
			abort();
		pthread_join(other, NULL);
	}
	if (!strcmp(how, "dies"))
		*(volatile int *)NULL = 0;
	say("in jail\n");
	syscall(SYS_exit, 0);
}

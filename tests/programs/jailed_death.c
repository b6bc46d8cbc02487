/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jailed_death.c: sets a filter of system calls of one kind, in one way, and dies of one signal.
 * ./jailed_death ACTION LIST WAY DEATH
 */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile unsigned long done;

static __attribute__((noinline)) void work(unsigned long n)
{
	done += n;
}

static struct sock_filter code[200];
static struct sock_fprog program = {.filter = code};

static void add(struct sock_filter one)
{
	code[program.len++] = one;
}

#define STATEMENT(op, k)    add((struct sock_filter)BPF_STMT((op), (unsigned)(k)))
#define JUMP(op, k, jt, jf) add((struct sock_filter)BPF_JUMP((op), (unsigned)(k), (jt), (jf)))
#define FIELD(name)         offsetof(struct seccomp_data, name)

static void allow(int number)
{
	JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
	STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

/* `bare`: to compute, print and end; `handlers`: also to have handlers of signals, and die by them;
 * `files`: also what writing a file takes; `arguments`: the same, by rules about arguments, as
 * libseccomp writes them; `all`: but ptrace. */
static void make(const char *list, unsigned action)
{
	static const int bare[] = {SYS_read, SYS_write,           SYS_exit_group, SYS_exit,
				   SYS_brk,  SYS_munmap,          SYS_madvise,    SYS_clock_gettime,
				   SYS_kill, SYS_set_robust_list, SYS_rseq};
	static const int handlers[] = {SYS_getpid,       SYS_gettid,           SYS_rt_sigprocmask,
				       SYS_rt_sigaction, SYS_rt_sigreturn,     SYS_tgkill,
				       SYS_sched_yield,  SYS_rt_tgsigqueueinfo};
	static const int files[] = {
		SYS_openat,      SYS_close,     SYS_pread64,       SYS_pwrite64,
		SYS_fcntl,       SYS_faccessat, SYS_newfstatat,    SYS_renameat2,
		SYS_unlinkat,    SYS_linkat,    SYS_rt_sigpending, SYS_rt_sigtimedwait,
		SYS_prlimit64,   SYS_getppid,   SYS_getpgid,       SYS_getsid,
		SYS_getuid,      SYS_getgid,    SYS_uname,         SYS_readlinkat,
		SYS_getcwd,      SYS_futex,     SYS_arch_prctl,    SYS_sigaltstack,
		SYS_mprotect,    SYS_renameat,  SYS_nanosleep,     SYS_clone,
		SYS_close_range, SYS_prctl,     SYS_readlink,      SYS_lseek};

	if (!strcmp(list, "arguments")) {
		STATEMENT(BPF_LD | BPF_W | BPF_ABS, FIELD(arch));
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
		STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	STATEMENT(BPF_LD | BPF_W | BPF_ABS, FIELD(nr));
	if (!strcmp(list, "all")) {
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1);
		STATEMENT(BPF_RET | BPF_K, action);
		STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		return;
	}
	for (size_t i = 0; i < sizeof(bare) / sizeof(*bare); i++)
		allow(bare[i]);
	if (strcmp(list, "bare")) {
		for (size_t i = 0; i < sizeof(handlers) / sizeof(*handlers); i++)
			allow(handlers[i]);
	}
	if (!strcmp(list, "files") || !strcmp(list, "arguments"))
		for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
			allow(files[i]);
	if (!strcmp(list, "arguments")) {
		/* Memory, but no code. */
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 6);
		STATEMENT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[2]));
		STATEMENT(BPF_ALU | BPF_AND | BPF_K, PROT_EXEC);
		JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
		STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		STATEMENT(BPF_RET | BPF_K, action);
		STATEMENT(BPF_LD | BPF_W | BPF_ABS, FIELD(nr));
	} else {
		allow(SYS_mmap);
	}
	STATEMENT(BPF_RET | BPF_K, action);
}

static int set(const char *way)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!strcmp(way, "prctl"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	if (!strcmp(way, "syscall"))
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	if (!strcmp(way, "syscall-prctl"))
		return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    &program);
}

static void die(const char *death)
{
	if (!strcmp(death, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(death, "ud2"))
		__builtin_trap();
	if (!strcmp(death, "int3"))
		__asm__ volatile("int3");
	if (!strcmp(death, "divide"))
		__asm__ volatile("xorl %%ecx, %%ecx; xorl %%edx, %%edx; idivl %%ecx" ::
					 : "eax", "ecx", "edx", "cc");
	if (!strcmp(death, "sys"))
		syscall(SYS_ptrace, 0, 0, 0, 0);
	_exit(0);
}

static void *waits(void *unused)
{
	return unused;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		unsigned action;
	} actions[] = {{"process", SECCOMP_RET_KILL_PROCESS},
		       {"thread", SECCOMP_RET_KILL_THREAD},
		       {"trap", SECCOMP_RET_TRAP},
		       {"errno", SECCOMP_RET_ERRNO | 1},
		       {"trace", SECCOMP_RET_TRACE}};
	pthread_t other;

	if (argc < 5)
		return 99;
	for (unsigned i = 0; i < 1000; i++)
		work(i);
	pthread_create(&other, NULL, waits, NULL);
	pthread_join(other, NULL);
	if (!strcmp(argv[1], "strict")) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
			return 98;
	} else {
		for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
			if (!strcmp(argv[1], actions[i].name))
				make(argv[2], actions[i].action);
		if (!program.len || set(argv[3]))
			return 98;
	}
	if (!strcmp(argv[4], "exec")) {
		execv(argv[5], argv + 5);
		return 97;
	}
	for (unsigned i = 0; i < 3000; i++)
		work(i);
	die(argv[4]);
	return 0;
}

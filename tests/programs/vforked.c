/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vforked.c: vforked THREADS ROUNDS: in each thread as many times a vfork whose child writes over
 * the stack below its parent's frame, has a child of its own (vfork again), and ends deep in calls
 * by _exit, exec, or a signal. The parents look whether all is theirs: registers, stack, errno, the
 * children's status. vfork that fails at the end. Status 0: all was well.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEVER __attribute__((noinline, noclone))
#define MUST(what)                                                            \
	do {                                                                  \
		if (!(what)) {                                                \
			fprintf(stderr, "%d: not so: %s\n", __LINE__, #what); \
			_exit(1);                                             \
		}                                                             \
	} while (0)

static int rounds;

static void ends(int how)
{
	if (how % 3 == 0)
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)0);
	if (how % 3 == 1)
		kill(getpid(), SIGKILL);
	_exit(7);
}

static int is_end(int status, int how)
{
	return how % 3 == 1 ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static NEVER int parent(int how, int level);

static NEVER void child(int how, int level, int depth)
{
	char below[300];

	memset(below, how + depth, sizeof(below));
	__asm__ volatile("" : : "r"(below) : "memory");
	if (depth > 0)
		child(how, level, depth - 1);
	if (level > 0)
		MUST(parent(how + 1, level - 1) == how + 1);
	ends(how);
}

static NEVER int parent(int how, int level)
{
	volatile uint64_t around[32];
	uint64_t a = (uint64_t)how * 3, b = a + 1, c = a + 2, d = a + 3, e = a + 4;
	int status = 0;
	pid_t pid;

	for (int i = 0; i < 32; i++)
		around[i] = a + (uint64_t)i;
	/* In registers that calls keep, as many as there are. */
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
	pid = vfork();
	if (pid == 0)
		child(how, level, 20);
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
	MUST(pid > 0 && pid != getpid());
	MUST(a == (uint64_t)how * 3 && b == a + 1 && c == a + 2 && d == a + 3 && e == a + 4);
	for (int i = 0; i < 32; i++)
		MUST(around[i] == a + (uint64_t)i);
	MUST(waitpid(pid, &status, 0) == pid);
	MUST(is_end(status, how));
	return how;
}

static void *body(void *argument)
{
	for (int i = 0; i < rounds; i++)
		MUST(parent(i, i % 4) == i);
	return argument;
}

/* From here on this process gets no child. */
static void fails(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
	pid_t pid;

	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
	for (int i = 0; i < 100; i++) {
		errno = 0;
		pid = vfork();
		if (pid == 0)
			_exit(0);
		MUST(pid == -1 && errno == EAGAIN);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count = argc > 1 ? atoi(argv[1]) : 4;

	rounds = argc > 2 ? atoi(argv[2]) : 50;
	for (int i = 0; i < count; i++)
		MUST(pthread_create(&threads[i], NULL, body, NULL) == 0);
	for (int i = 0; i < count; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	body(NULL);
	fails();
	puts("well");
	if (argc > 3)
		abort();
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deaths.c: dies in the way that it is told, three calls deep, after a few calls that return.
 * deaths HOW [thread]: with "thread" it is a second thread that dies while main waits in join_it.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

struct node {
	char pad[24];
	int value;
};

static volatile int sink, zero, joining;
static struct node *volatile nobody;
static void (*volatile no_function)(void);
static const char text[] = "read-only";
static const char *how;

KEPT static void warm_up(void)
{
	sink++;
}

KEPT static int overflow_stack(int depth)
{
	volatile char page[4096];

	page[0] = (char)depth;
	return overflow_stack(depth + 1) + page[0];
}

KEPT static void die_null(void)
{
	nobody->value = 1; /* 24 bytes into nothing */
}

KEPT static void die_call(void)
{
	no_function();
	sink++;
}

KEPT static void die_divide(void)
{
	sink = 7 / zero; /* 1 / x needs no division */
}

KEPT static void die_abort(void)
{
	abort();
}

KEPT static void die_readonly(void)
{
	*(volatile char *)(uintptr_t)text = 'R';
}

KEPT static void die_beyond(void)
{
	long size = sysconf(_SC_PAGESIZE);
	volatile char *page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect((void *)page, (size_t)size, PROT_NONE);
	page[0] = 1;
}

KEPT static void die_wild(void)
{
	*(volatile char *)(uintptr_t)0xdead000000000000 = 1;
}

KEPT static void die_trap(void)
{
	__builtin_trap();
}

KEPT static void die_waiting(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

KEPT static void handle_fault(int signal)
{
	sink = signal;
	abort();
}

KEPT static void die_handled(void)
{
	signal(SIGSEGV, handle_fault);
	nobody->value = 1;
}

/* The caller's frames are above what is here. */
KEPT static void overwrite(volatile char *bytes, int value)
{
	for (int i = 0; i < 200; i++)
		bytes[i] = (char)value;
	sink++;
}

KEPT static void die_smashed(void)
{
	volatile char small[16];

	overwrite(small, 'A');
	nobody->value = small[3];
}

KEPT static void die_erased(void)
{
	volatile char small[16];

	overwrite(small, 0);
	nobody->value = small[3];
}

KEPT static void die_returning(void)
{
	volatile char small[16];

	overwrite(small, 'A');
	sink += small[3];
}

KEPT static int descend(int depth)
{
	if (depth == 0)
		nobody->value = 1;
	return depth ? descend(depth - 1) + sink : 0;
}

KEPT static void die_deep(void)
{
	sink = descend(3);
}

static jmp_buf out;

KEPT static void jump_out(void)
{
	sink++;
	longjmp(out, 1);
}

KEPT static void leave(void)
{
	jump_out();
	sink++;
}

KEPT static void die_jumped(void)
{
	if (!setjmp(out))
		leave();
	nobody->value = 1;
}

/* A jump where the compiler is asked for those: then its frame is gone. */
KEPT static void die_tail(void)
{
	sink++;
	die_null();
}

static int compare(const void *a, const void *b)
{
	nobody->value = *(const char *)a - *(const char *)b;
	return sink;
}

/* Through a function that has no hooks. */
KEPT static void die_sorting(void)
{
	char list[] = "wrong";

	qsort(list, 5, 1, compare);
	sink++;
}

/* A file that is mapped becomes shorter. */
KEPT static void die_cut(void)
{
	char name[] = "cut.XXXXXX";
	int file = mkstemp(name);
	volatile char *bytes;

	unlink(name);
	if (ftruncate(file, 8192))
		return;
	bytes = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	bytes[5000] = 1;
	if (ftruncate(file, 100))
		return;
	sink = bytes[5000];
}

/* Its return address, exactly. */
#define RETURN_TO(address)                                 \
	do {                                               \
		void **frame = __builtin_frame_address(0); \
		sink++;                                    \
		frame[1] = (void *)(uintptr_t)(address);   \
		__asm__ volatile("" ::: "memory");         \
	} while (0)

KEPT static void return_low(void)
{
	RETURN_TO(0x4242);
}

KEPT static void return_text(void)
{
	RETURN_TO(0x4242424242424242);
}

KEPT static void return_heap(void)
{
	RETURN_TO(memset(malloc(16), 0x90, 16));
}

KEPT static void return_zero(void)
{
	RETURN_TO(0);
}

KEPT static void die_cpu(void)
{
	struct rlimit limit = {1, 10};

	setrlimit(RLIMIT_CPU, &limit);
	for (;;)
		sink++;
}

KEPT static void die_long(void)
{
	char name[] = "long.XXXXXX", bytes[2000] = {0};
	struct rlimit limit = {1000, RLIM_INFINITY};
	int file = mkstemp(name);

	unlink(name);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; i < 3; i++)
		sink = (int)write(file, bytes, sizeof(bytes));
}

KEPT static void die_pipe(void)
{
	int ends[2];

	sink = pipe(ends);
	close(ends[0]);
	sink = (int)write(ends[1], "x", 1);
}

KEPT static void die_alarm(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = 1000}};

	setitimer(ITIMER_REAL, &soon, NULL);
	for (;;)
		pause();
}

/* Asks the system for what is denied, as a snapshot does, too. */
KEPT static void die_denied(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, filter};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	sink = getppid();
}

KEPT static void die_terminated(void)
{
	raise(SIGTERM);
	sink++;
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"cut", die_cut},           {"low", return_low},      {"text", return_text},
	{"heap", return_heap},      {"zero", return_zero},    {"cpu", die_cpu},
	{"long", die_long},         {"pipe", die_pipe},       {"alarm", die_alarm},
	{"denied", die_denied},     {"term", die_terminated}, {"null", die_null},
	{"call", die_call},         {"divide", die_divide},   {"abort", die_abort},
	{"readonly", die_readonly}, {"guard", die_beyond},    {"wild", die_wild},
	{"trap", die_trap},         {"wait", die_waiting},    {"handled", die_handled},
	{"smashed", die_smashed},   {"erased", die_erased},   {"returning", die_returning},
	{"deep", die_deep},         {"jumped", die_jumped},   {"tail", die_tail},
	{"sorting", die_sorting},
};

KEPT static void choose(void)
{
	if (!strcmp(how, "overflow"))
		sink = overflow_stack(0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(how, ways[i].name))
			ways[i].run();
	sink++;
}

KEPT static void *second_thread(void *unused)
{
	pthread_setname_np(pthread_self(), "second");
	while (!joining)
		usleep(1000);
	for (int i = 0; i < 3; i++)
		warm_up();
	choose();
	return unused;
}

KEPT static void join_it(pthread_t thread)
{
	joining = 1;
	pthread_join(thread, NULL);
	sink++;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2)
		return 64;
	how = argv[1];
	if (argc > 2) {
		pthread_create(&thread, NULL, second_thread, NULL);
		join_it(thread);
		return 0;
	}
	for (int i = 0; i < 3; i++)
		warm_up();
	choose();
	return 0;
}

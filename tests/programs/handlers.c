/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handlers.c: faults in `culprit`, and a handler of its own makes another death of it: handlers
 * HOW. On stdout stands what the first fault was: signal, and address if it has one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

static volatile int sink, zero;
static int *volatile nobody;
static int *volatile wrong = (int *)0x1230;
static void (*volatile no_function)(void) = (void (*)(void))0x10;
static sigjmp_buf back;
static int signal_number = SIGSEGV;

KEPT static void before(void)
{
	sink++;
}

KEPT static void noise(void)
{
	sink++;
}

/* ---- what handlers do ---- */

static void make_noise(void)
{
	for (int i = 0; i < 100; i++)
		noise();
}

static void handle_raise(int number)
{
	make_noise();
	signal(number, SIG_DFL);
	raise(number);
}

static void handle_kill(int number)
{
	signal(number, SIG_DFL);
	kill(getpid(), number);
	make_noise();
}

static void handle_abort(int number)
{
	make_noise();
	sink = number;
	abort();
}

KEPT static void second_culprit(void)
{
	*nobody = 1;
}

static void handle_fault(int number)
{
	sink = number;
	make_noise();
	second_culprit();
}

static void handle_divide(int number)
{
	sink = number / zero;
}

static void handle_return(int number)
{
	sink = number;
}

static void handle_jump(int number)
{
	if (zero++)
		abort();
	siglongjmp(back, number);
}

/* Others take it: it is sent to the process, and blocked here. */
static void handle_kill_and_wait(int number)
{
	signal(number, SIG_DFL);
	kill(getpid(), number);
	for (;;)
		pause();
}

/* ---- faults ---- */

KEPT static void culprit(void)
{
	*wrong = 1;
	sink++;
}

KEPT static void call_culprit(void)
{
	no_function();
	sink++;
}

KEPT static void divide_culprit(void)
{
	sink = 7 / zero;
}

KEPT static void trap_culprit(void)
{
	__asm__ volatile("ud2");
	sink++;
}

KEPT static void wild_culprit(void)
{
	*(volatile char *)(uintptr_t)0xdead000000000000 = 1;
}

KEPT static void quit_culprit(void)
{
	raise(SIGQUIT);
	sink++;
}

KEPT static void alarm_culprit(void)
{
	raise(SIGALRM);
	sink++;
}

KEPT static void abort_culprit(void)
{
	abort();
}

KEPT static int overflow_culprit(int depth)
{
	volatile char page[4096];

	page[0] = (char)depth;
	return overflow_culprit(depth + 1) + page[0];
}

KEPT static void start_overflow(void)
{
	sink = overflow_culprit(0);
}

KEPT static void cut_culprit(void)
{
	char name[] = "cut.XXXXXX";
	int file = mkstemp(name);
	volatile char *page;

	unlink(name);
	if (ftruncate(file, 4096))
		return;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (!ftruncate(file, 0))
		page[8] = 1;
}

/* One fault is jumped out of, the next one is deeper than it. */
KEPT static void deeper(int depth)
{
	volatile char room[256];

	room[0] = (char)depth;
	if (depth == 0)
		second_culprit();
	else
		deeper(depth - 1);
	sink += room[0];
}

KEPT static void jump_culprit(void)
{
	if (!sigsetjmp(back, 1))
		culprit();
	before();
	deeper(4);
}

static const struct {
	const char *name;
	void (*handler)(int);
	int flags;
	void (*run)(void);
	int signal;
	const char *address;
} ways[] = {
	{"raise", handle_raise, 0, culprit, SIGSEGV, "0x1230"},
	{"redis", handle_raise, (int)(SA_NODEFER | SA_RESETHAND | SA_SIGINFO), culprit, SIGSEGV,
	 "0x1230"},
	{"direct", (void (*)(int))(void (*)(void))raise, (int)(SA_NODEFER | SA_RESETHAND), culprit,
	 SIGSEGV, "0x1230"},
	{"kill", handle_kill, SA_SIGINFO, culprit, SIGSEGV, "0x1230"},
	{"kill-others", handle_kill_and_wait, SA_SIGINFO, culprit, SIGSEGV, "0x1230"},
	{"abort", handle_abort, 0, culprit, SIGSEGV, "0x1230"},
	{"abort-info", handle_abort, SA_SIGINFO, culprit, SIGSEGV, "0x1230"},
	{"fault", handle_fault, 0, culprit, SIGSEGV, "0x1230"},
	{"own-stack", handle_fault, SA_ONSTACK | SA_SIGINFO, culprit, SIGSEGV, "0x1230"},
	{"return", handle_return, (int)SA_RESETHAND, culprit, SIGSEGV, "0x1230"},
	{"jump", handle_jump, SA_NODEFER, jump_culprit, SIGSEGV, "0x0"},
	{"call", handle_abort, 0, call_culprit, SIGSEGV, "0x10"},
	{"divide", handle_abort, 0, divide_culprit, SIGFPE, "-"},
	{"trap", handle_abort, 0, trap_culprit, SIGILL, "-"},
	{"wild", handle_abort, 0, wild_culprit, SIGSEGV, "-"},
	{"quit", handle_fault, 0, quit_culprit, SIGQUIT, "-"},
	{"alarm", handle_fault, 0, alarm_culprit, SIGSEGV, "0x0"},
	{"self", handle_fault, 0, abort_culprit, SIGABRT, "-"},
	{"overflow", handle_abort, SA_ONSTACK, start_overflow, SIGSEGV, "-"},
	{"cut", handle_abort, 0, cut_culprit, SIGBUS, "-"},
	{"nested", handle_divide, SA_SIGINFO, culprit, SIGSEGV, "0x1230"},
};

static void install(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_flags = flags};

	action.sa_handler = handler;
	sigaction(number, &action, NULL);
}

KEPT static void choose(const char *how)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(how, ways[i].name))
			continue;
		signal_number = !strcmp(how, "alarm") ? SIGALRM : ways[i].signal;
		install(signal_number, ways[i].handler, ways[i].flags);
		if (!strcmp(how, "nested"))
			install(SIGFPE, handle_abort, SA_SIGINFO);
		printf("SIG%s %s\n", sigabbrev_np(ways[i].signal), ways[i].address);
		fflush(stdout);
		for (int n = 0; n < 3; n++)
			before();
		ways[i].run();
	}
}

/* An illegal instruction where the runtime's own thread waits. */
static void break_helper(const char *tid)
{
	char path[300], line[300] = "", *pc;
	FILE *file;
	int memory;

	snprintf(path, sizeof(path), "/proc/self/task/%s/syscall", tid);
	file = fopen(path, "r");
	if (!file || !fgets(line, sizeof(line), file) || !(pc = strrchr(line, ' ')))
		return;
	fclose(file);
	printf("%s\n", tid);
	fflush(stdout);
	memory = open("/proc/self/mem", O_RDWR);
	if (pwrite(memory, "\x0f\x0b", 2, (off_t)strtoull(pc, NULL, 16)) == 2)
		for (;;)
			before();
}

static void die_in_helper(void)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;

	usleep(100000);
	while (folder && (entry = readdir(folder)))
		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != getpid())
			break_helper(entry->d_name);
}

static void *sit(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	static char stack[65536];
	stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
	pthread_t thread;

	if (argc < 2)
		return 64;
	sigaltstack(&own, NULL);
	if (!strcmp(argv[1], "kill-others")) {
		pthread_create(&thread, NULL, sit, NULL);
		usleep(10000);
	}
	if (!strcmp(argv[1], "helper"))
		die_in_helper();
	choose(argv[1]);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switched_truth.c: threads that call by chance, some of it left by longjmp, while another one
 * switches some of the functions off and on. All keep logs of their own, which are written before
 * main dies: "truth", a line an event: tid, B (call), E (return) or U (left), function, TSC; and
 * "switches": function, TSC before it went off, TSC after it was on again (0: it was not).
 */
#include <epitaph.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#define QUIET     __attribute__((no_instrument_function, always_inline)) inline
#define KEEP      __attribute__((noinline))
#define THREADS   4
#define EVENTS    24000
#define DEPTH     24
#define SWITCHES  200
#define FUNCTIONS 12 /* the last four are left alone */

struct entry {
	char kind;
	int function;
	unsigned long long tsc;
};

struct log {
	long tid;
	unsigned count, state;
	int stack[2 * DEPTH], depth;
	jmp_buf back;
	int back_depth; /* 0: none */
	struct entry entries[EVENTS + 4 * DEPTH];
};

static struct log logs[THREADS];
static __thread struct log *mine;
static int done;

static struct {
	int function;
	unsigned long long off, on;
} switches[SWITCHES];
static unsigned switch_count;

static QUIET unsigned chance(unsigned n)
{
	mine->state = mine->state * 1103515245 + 12345;
	return (mine->state >> 16) % n;
}

static QUIET void note(char kind, int function)
{
	mine->entries[mine->count++] = (struct entry){kind, function, __rdtsc()};
}

static QUIET void enter(int function)
{
	note('B', function);
	mine->stack[mine->depth++] = function;
}

static QUIET void leave(char kind)
{
	mine->depth--;
	if (mine->back_depth > mine->depth)
		mine->back_depth = 0;
	note(kind, mine->stack[mine->depth]);
}

static QUIET void jump_back(void)
{
	while (mine->depth > mine->back_depth)
		leave('U');
	longjmp(mine->back, 1);
}

static void go_on(void);

#define FUNCTION(number)                                                         \
	static KEEP void f##number(void)                                         \
	{                                                                        \
		enter(number);                                                   \
		if (chance(8) == 0)                                              \
			usleep(20);                                              \
		if (chance(16) == 0 && !mine->back_depth && !setjmp(mine->back)) \
			mine->back_depth = mine->depth;                          \
		for (unsigned i = chance(4); i > 0; i--)                         \
			go_on();                                                 \
		if (chance(200) == 0 && mine->back_depth)                        \
			jump_back();                                             \
		leave('E');                                                      \
	}

FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
FUNCTION(8)
FUNCTION(9)
FUNCTION(10)
FUNCTION(11)

static void (*const functions[FUNCTIONS])(void) = {f0, f1, f2, f3, f4,  f5,
						   f6, f7, f8, f9, f10, f11};

__attribute__((no_instrument_function)) static void go_on(void)
{
	if (mine->depth < DEPTH && mine->count < EVENTS)
		functions[chance(FUNCTIONS)]();
}

__attribute__((no_instrument_function)) static void *run(void *log)
{
	mine = log;
	mine->tid = syscall(SYS_gettid);
	while (mine->count < EVENTS) {
		go_on();
		usleep(50);
	}
	__atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
	return NULL;
}

__attribute__((no_instrument_function)) static void switch_one(int function)
{
	char name[8];

	snprintf(name, sizeof(name), "f%d", function);
	for (unsigned i = 0; i < switch_count; i++)
		if (switches[i].function == function && !switches[i].on) {
			epitaph_trace(name);
			switches[i].on = __rdtsc();
			return;
		}
	if (switch_count == SWITCHES)
		return;
	switches[switch_count].function = function;
	switches[switch_count].off = __rdtsc();
	if (epitaph_untrace(name) == 1)
		switch_count++;
}

__attribute__((no_instrument_function)) static void write_logs(void)
{
	FILE *truth = fopen("truth", "w"), *file = fopen("switches", "w");

	if (!truth || !file)
		exit(3);
	for (int i = 0; i < THREADS; i++)
		for (unsigned n = 0; n < logs[i].count; n++)
			fprintf(truth, "%ld %c f%d %llu\n", logs[i].tid, logs[i].entries[n].kind,
				logs[i].entries[n].function, logs[i].entries[n].tsc);
	for (unsigned i = 0; i < switch_count; i++)
		fprintf(file, "f%d %llu %llu\n", switches[i].function, switches[i].off,
			switches[i].on);
	if (fclose(truth) || fclose(file))
		exit(3);
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	unsigned state = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		logs[i].state = state * 16 + (unsigned)i;
		pthread_create(&threads[i], NULL, run, &logs[i]);
	}
	while (__atomic_load_n(&done, __ATOMIC_RELAXED) < THREADS) {
		state = state * 1103515245 + 12345;
		switch_one((int)((state >> 16) % (FUNCTIONS - 4)));
		usleep((state >> 8) % 400);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	write_logs();
	abort();
}

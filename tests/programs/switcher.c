/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switcher.c: started with EPITAPH=off, runs work() often and waits; is switched on by its own
 * word, and waits; runs work() once more and dies. Each wait says so on stdout and ends by a byte
 * from stdin. WORK: work() alone, a library's; MAIN: the rest alone, with the library linked, or
 * opened if it is named. Without both: all.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <epitaph.h>

#define KEEP __attribute__((noinline))

int work(int times);

#ifndef MAIN
static volatile int sink;

static KEEP int leaf(int x)
{
	return x * 2;
}
static KEEP int tail(int x)
{
	return leaf(x + 1);
}
static KEEP void nothing(int x)
{
	sink += x;
}
static KEEP int sum(int count, ...)
{
	int total = 0;
	va_list list;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		total += va_arg(list, int);
	va_end(list);
	return total;
}
static KEEP double half(double x)
{
	return x / 2;
}
static KEEP int down(int x)
{
	return x ? 1 + down(x - 1) : 0;
}
/* By clang -Os its return is a conditional jump. */
static KEEP void maybe(int x)
{
	if (x & 1)
		return;
	nothing(x);
	nothing(x + 1);
}
static KEEP int step(int i)
{
	maybe(i);
	return tail(i) + sum(3, i, 1, 2) + (int)half(i) + down(3);
}

int work(int times)
{
	int total = 0;

	for (int i = 0; i < times; i++)
		total += step(i);
	return total;
}
#endif

#ifndef WORK
static void pause_for(const char *word)
{
	puts(word);
	fflush(stdout);
	if (getchar() == EOF)
		exit(3);
}

int main(int argc, char **argv)
{
	int (*run)(int) = NULL;

	if (argc > 1) {
		void *handle = dlopen(argv[1], RTLD_NOW);

		if (!handle)
			return puts(dlerror());
		run = (int (*)(int))dlsym(handle, "work");
	}
#ifndef OPENED
	else
		run = work;
#endif
	printf("%d\n", run(1000));
	pause_for("off");
	epitaph_resume();
	pause_for("on");
	printf("%d\n", run(2));
	fflush(stdout);
	abort();
}
#endif

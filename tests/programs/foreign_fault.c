/* SPDX-License-Identifier: BSD-2-Clause */
/* foreign_fault.c WHERE: dies in code that is not the program's, called with a bad pointer: vdso
 * (the kernel's clock_gettime), libc (strlen), libm (frexp). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static volatile long sum;
static int (*clock_of_kernel)(clockid_t, struct timespec *);
static size_t (*volatile length)(const char *) = strlen;
static double (*volatile split)(double, int *) = frexp;

__attribute__((noinline)) static int ask(const char *where, void *pointer)
{
	int got;

	if (!strcmp(where, "vdso"))
		got = clock_of_kernel(CLOCK_MONOTONIC, pointer);
	else if (!strcmp(where, "libc"))
		got = (int)length(pointer);
	else
		got = (int)split(3.5, pointer);
	sum += got;
	return got;
}

__attribute__((noinline)) static int stamp(const char *where, void *pointer)
{
	int got = ask(where, pointer);

	sum++;
	return got;
}

int main(int count, char **words)
{
	const char *where = count > 1 ? words[1] : "vdso";
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	union {
		struct timespec time;
		int number;
		char text[64];
	} room = {0};

	clock_of_kernel = (int (*)(clockid_t, struct timespec *))(
		vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL);
	if (!clock_of_kernel)
		return 3;
	for (int i = 0; i < 100; i++)
		stamp(where, &room);
	stamp(where, (void *)0x18);
	return 0;
}

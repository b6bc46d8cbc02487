/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * starved.c, preloaded into epitaph catch: memory runs out at one of its processes. STARVED is
 * "PROCESS N": 0 the one that is started, 1 its first child, 2 its second; from its Nth allocation
 * on there is no more.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What malloc(3) and others are in the C library, so that nothing needs to be looked up. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t unit, size_t size);

static unsigned which, from, self, children, seen;
static pid_t (*real_fork)(void);

__attribute__((constructor)) static void begin(void)
{
	const char *words = getenv("STARVED");

	real_fork = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
	if (!words || sscanf(words, "%u %u", &which, &from) != 2)
		abort();
}

pid_t fork(void)
{
	unsigned number = ++children;
	pid_t child = real_fork();

	if (child == 0) {
		self = number;
		seen = 0;
	}
	return child;
}

static bool no_more(void)
{
	if (!from || self != which || ++seen < from)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return no_more() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return no_more() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return no_more() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t unit, size_t size)
{
	return no_more() ? NULL : __libc_memalign(unit, size);
}

/* What calls realloc inside of the C library, past the one above. */
void *reallocarray(void *old, size_t count, size_t size)
{
	return no_more() ? NULL : __libc_realloc(old, count * size);
}

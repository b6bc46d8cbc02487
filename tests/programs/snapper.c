/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapper.c: what a program may ask of the runtime, one word each: `write PATH`, `signal` (raises
 * SIGTRAP), `breakpoint` (executes one), `spin` (waits for signals until SIGTERM), `alloc` (then
 * exits 3).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epitaph.h"

static volatile int sink;

__attribute__((noinline)) static int leaf(int x)
{
	return x + sink;
}

__attribute__((noinline)) static int innermost(const char *path)
{
	int result = epitaph_snapshot_write(path);

	sink++;
	return result;
}

__attribute__((noinline)) static int middle(const char *path)
{
	int result = innermost(path);

	sink++;
	return result;
}

__attribute__((noinline)) static void interrupted(void)
{
	errno = 4711;
	raise(SIGTRAP);
	printf("went on, errno %s\n", errno == 4711 ? "kept" : "lost");
}

__attribute__((noinline)) static void breakpoint(void)
{
	__asm__ volatile("int3");
	puts("not reached");
}

static volatile sig_atomic_t stop;

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

__attribute__((noinline)) static void spin(void)
{
	signal(SIGTERM, on_term);
	puts("ready");
	fflush(stdout);
	while (!stop)
		sink = leaf(sink) & 1;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "alloc";

	for (int i = 0; i < 1000; i++)
		sink = leaf(i);
	if (!strcmp(word, "write")) {
		if (middle(argc > 2 ? argv[2] : NULL)) {
			perror("snapshot");
			return 1;
		}
		return 0;
	}
	if (!strcmp(word, "signal"))
		interrupted();
	else if (!strcmp(word, "breakpoint"))
		breakpoint();
	else if (!strcmp(word, "spin"))
		spin();
	else
		return 3;
	return 0;
}

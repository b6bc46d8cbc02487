/* SPDX-License-Identifier: BSD-2-Clause */
/* forker.c CALLS [CHILDREN]: a server whose children do all the work, one after the other, and end.
 * Says after how many of them its own code of what only they call is switched off, or that it never
 * was. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

static volatile unsigned sink;

KEPT void hot(unsigned i)
{
	sink += i;
}

/* The hook's call comes first: e8, behind 67 where the linker has made it, or a9 when it is off. */
static int is_off(void)
{
	const volatile uint8_t *code = (const volatile uint8_t *)(uintptr_t)hot;

	return code[code[0] == 0x67] == 0xa9;
}

static void serve(unsigned calls)
{
	for (unsigned i = 0; i < calls; i++)
		hot(i);
}

int main(int argc, char **argv)
{
	unsigned calls = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	int children = argc > 2 ? atoi(argv[2]) : 30, status;

	for (int served = 0; served < children; served++) {
		pid_t child = fork();

		if (is_off()) { /* in the child too, from its first moment on */
			if (child == 0)
				_exit(0);
			waitpid(child, &status, 0);
			printf("off after %d\n", served);
			return 0;
		}
		if (child == 0) {
			serve(calls);
			_exit(is_off() ? 0 : 1);
		}
		if (waitpid(child, &status, 0) != child || status)
			printf("child %d did not switch it off\n", served);
	}
	puts("never off");
	return 0;
}

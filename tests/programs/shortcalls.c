/* SPDX-License-Identifier: BSD-2-Clause */
/* shortcalls.c: short calls, long calls, short calls with long ones in them, and a call that is
 * open when main aborts in it. */
#include <stdlib.h>
#include <time.h>

#define KEPT __attribute__((noinline))

KEPT void quick(void)
{
	__asm__ volatile("");
}

KEPT void lengthy(void)
{
	nanosleep(&(struct timespec){0, 150000000}, NULL);
	__asm__ volatile("");
}

KEPT void quick_around_lengthy(void)
{
	quick();
	lengthy();
	quick();
}

KEPT void quick_around_quick(void)
{
	quick();
	quick();
	__asm__ volatile("");
}

KEPT void open_call(void)
{
	quick_around_quick();
	abort();
}

int main(void)
{
	/* So many that the last record is long ago for most of them. */
	for (int i = 0; i < 100000; i++)
		quick_around_quick();
	lengthy();
	quick_around_lengthy();
	open_call();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switched_open.c: functions that are switched off while they are open. main calls outer, which
 * calls inner; outer goes off, and calls inner again; then it calls last, which goes off in itself
 * and dies there. Calls of later are made while it is off, and one of them returns when it is on
 * again.
 */
#include <epitaph.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline))

static volatile int sink;

static KEEP void inner(int x)
{
	sink += x;
}

static KEEP void later(void)
{
	inner(3);
	if (epitaph_trace("later") < 0)
		exit(4);
	inner(4);
}

static KEEP void last(void)
{
	if (epitaph_untrace("last") != 1)
		exit(5);
	abort();
}

static KEEP void outer(void)
{
	inner(1);
	if (epitaph_untrace("outer") != 1 || epitaph_untrace("later") != 1)
		exit(3);
	inner(2);
	later();
	later();
	inner(5);
	last();
}

int main(void)
{
	outer();
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * story.c: a program whose calls are written down here, so that a test can say what its trace must
 * be. story [pause]
 *
 *   main
 *     first
 *       leaf
 *     second
 *       leaf
 *       leaf
 *     jumps            setjmp
 *       thrower        longjmp back to jumps: left without a return
 *     slow             sleeps 20 ms
 *       leaf
 *     recursive x 3    each inside the one before
 *     last             aborts: main, last and fall did not return
 *       fall
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf back;

KEPT static void leaf(void)
{
	sink++;
}

KEPT static void first(void)
{
	leaf();
	sink++;
}

KEPT static void second(void)
{
	leaf();
	leaf();
	sink++;
}

KEPT static void thrower(void)
{
	longjmp(back, 1);
}

KEPT static void jumps(void)
{
	if (setjmp(back) == 0)
		thrower();
	sink++;
}

KEPT static void slow(void)
{
	leaf();
	usleep(20000);
	sink++;
}

KEPT static void recursive(int depth)
{
	if (depth > 1)
		recursive(depth - 1);
	sink++;
}

KEPT static void fall(void)
{
	abort();
}

KEPT static void last(void)
{
	fall();
	sink++;
}

int main(void)
{
	first();
	second();
	jumps();
	slow();
	recursive(3);
	last();
	return 0;
}

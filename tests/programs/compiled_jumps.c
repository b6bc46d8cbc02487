/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compiled_jumps.c HOW: leaves calls by jumps that the compiler writes into functions: goto (out of
 * a nested function, gcc's), builtin (__builtin_longjmp). Dies in a function that only the one that
 * goes on calls. HOW alive: both of the functions return as others do; so nothing was left.
 */
#include <string.h>

static volatile long sum;
static void *buffer[5];

__attribute__((noinline)) static void work(long n)
{
	sum += n;
}

__attribute__((noinline)) static void die(void)
{
	work(300);
	*(volatile int *)8 = 1;
}

__attribute__((noinline)) static void call_it(void (*function)(long), long n)
{
	function(n);
	sum++;
}

__attribute__((noinline)) static void thrower(long n, long last)
{
	work(n);
	if (n == last)
		__builtin_longjmp(buffer, 1);
	sum++;
}

__attribute__((noinline)) static void middle(long n, long last)
{
	thrower(n, last);
	sum++;
}

__attribute__((noinline)) static void jumps(long last)
{
	if (__builtin_setjmp(buffer)) {
		work(200);
		die();
	}
	for (volatile long i = 0; i < 5; i++)
		middle(i, last);
}

#ifndef __clang__
__attribute__((noinline)) static void searches(long last)
{
	__label__ found;
	__attribute__((noinline)) void visit(long i)
	{
		work(i);
		if (i == last)
			goto found;
		sum++;
	}

	for (long i = 0; i < 5; i++)
		call_it(visit, i);
	return;
found:
	work(100);
	die();
}
#else
static void searches(long last)
{
	call_it(work, last);
}
#endif

int main(int count, char **words)
{
	const char *how = count > 1 ? words[1] : "builtin";

	call_it(work, 1);
	jumps(!strcmp(how, "builtin") ? 3 : 9);
	searches(!strcmp(how, "goto") ? 3 : 9);
	die();
	return 0;
}

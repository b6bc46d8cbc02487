/* SPDX-License-Identifier: BSD-2-Clause */
/* pauses.c: pauses nest; a program that starts paused is switched on by epitaph_resume. Then it
 * aborts. */
#include <epitaph.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline))

KEPT void before(void)
{
	__asm__ volatile("");
}

KEPT void recorded(void)
{
	__asm__ volatile("");
}

KEPT void hidden(void)
{
	__asm__ volatile("");
}

int main(void)
{
	before();
	epitaph_resume();
	recorded();
	epitaph_pause();
	hidden();
	epitaph_pause();
	hidden();
	epitaph_resume();
	hidden();
	epitaph_resume();
	recorded();
	abort();
}

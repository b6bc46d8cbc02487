/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nested.c: functions inside of functions (gcc's), called by name, and by address: through a
 * trampoline, which passes its frame in r10.
 *
 * 	outer
 * 		each
 * 			add  2 times
 * 		add
 * 	last  open
 */
#include <stdlib.h>

#include "flow.h"

FLOW static void flow_each(void (*f)(int))
{
	f(1);
	f(2);
	DONE;
}

FLOW static int flow_outer(int n)
{
	int sum = 0;
	FLOW void flow_add(int x)
	{
		sum += x * n;
		DONE;
	}

	flow_each(flow_add);
	flow_add(3);
	return sum;
}

FLOW static void flow_last(void)
{
	abort();
}

int main(void)
{
	if (flow_outer(2) == 12)
		flow_last();
}

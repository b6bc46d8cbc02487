/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * labels.c: symbols inside of a function, before and after its hooks, and one function by two
 * names: calls are of the function that they lie in.
 *
 * 	labelled
 * 		leaf
 * 		leaf
 * 	real  2 times
 * 	last  open
 */
#include <stdlib.h>

#include "flow.h"

FLOW static void flow_leaf(void)
{
	sink = sink + 2; /* or one name could do for this and flow_real, too */
}

FLOW static void flow_labelled(void)
{
	flow_leaf();
	__asm__ volatile(".globl flow_inside\nflow_inside:\n\tnop\n"
			 "\t.globl inside_too\ninside_too:");
	flow_leaf();
	DONE;
}

FLOW void flow_real(void)
{
	DONE;
}
void real_by_another_name(void) __attribute__((alias("flow_real")));

FLOW static void flow_last(void)
{
	abort();
}

int main(void)
{
	flow_labelled();
	flow_real();
	real_by_another_name();
	flow_last();
}

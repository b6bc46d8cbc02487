/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * execs.c: a program that execs itself: the trace is the new one's, and begins with it.
 *
 * 	after
 * 		leaf
 * 	last  open
 */
#include <stdlib.h>
#include <unistd.h>

#include "flow.h"

FLOW static void flow_leaf(void)
{
	DONE;
}

FLOW static void flow_before(char *self)
{
	flow_leaf();
	execl(self, self, "again", (char *)0);
	DONE;
}

FLOW static void flow_after(void)
{
	flow_leaf();
	DONE;
}

FLOW static void flow_last(void)
{
	abort();
}

int main(int count, char **words)
{
	if (count == 1)
		flow_before(words[0]);
	flow_after();
	flow_last();
}

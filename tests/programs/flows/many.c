/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * many.c: 3,000 threads, one after the other, each with three calls; the memory that they are given
 * holds the last of them only. None is told in part.
 *
 * 	[many]
 * 	last  open
 * 	[short]  some
 * 	body
 * 		leaf  2 times
 */
#include <pthread.h>
#include <stdlib.h>

#include "flow.h"

FLOW static void flow_leaf(void)
{
	DONE;
}

FLOW static void flow_body(void)
{
	flow_leaf();
	flow_leaf();
	DONE;
}

QUIET static void *body(void *unused)
{
	pthread_setname_np(pthread_self(), "short");
	flow_body();
	return unused;
}

FLOW static void flow_last(void)
{
	abort();
}

int main(void)
{
	for (int i = 0; i < 3000; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, body, NULL))
			return 3;
		pthread_join(thread, NULL);
	}
	flow_last();
}

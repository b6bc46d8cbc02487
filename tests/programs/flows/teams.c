/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * teams.c: OpenMP: three threads, each with its part of a loop, twice; the parts are functions that
 * compilers make, the threads are the library's.
 *
 * 	[teams]
 * 	outer
 * 		work  4 times
 * 			leaf
 * 		leaf
 * 		work  4 times
 * 			leaf
 * 	last  open
 * 	[team]  2 times
 * 	name
 * 	work  8 times
 * 		leaf
 */
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

#include "flow.h"

FLOW static void flow_leaf(void)
{
	DONE;
}

FLOW static void flow_name(void)
{
	pthread_setname_np(pthread_self(), "team");
	DONE;
}

FLOW static void flow_work(int i)
{
	flow_leaf();
	sink = i;
}

FLOW static void flow_outer(void)
{
#pragma omp parallel
	if (omp_get_thread_num() > 0)
		flow_name();
#pragma omp parallel for schedule(static, 4)
	for (int i = 0; i < 12; i++)
		flow_work(i);
	flow_leaf();
#pragma omp parallel for schedule(static, 4)
	for (int i = 0; i < 12; i++)
		flow_work(i);
	DONE;
}

FLOW static void flow_last(void)
{
	abort();
}

int main(void)
{
	omp_set_dynamic(0);
	omp_set_num_threads(3);
	flow_outer();
	flow_last();
}

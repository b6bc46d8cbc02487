/* SPDX-License-Identifier: BSD-2-Clause */
/* sched_cost.c: by the drain's own clock, and by what it copied. */
#include "runtime/kernel/sched_cost.h"

#include <time.h>

#include "runtime/kernel/sched_section.h"
#include "runtime/lib/vdso.h"
#include "runtime/settings/settings.h"

/* What a byte of an event costs the thread that it tells of, which records it in the kernel while
 * it switches; ns (measured on redis: docs/overhead.md). */
#define BYTE_OF_FTRACE 5
#define BYTE_OF_PERF   11

#define NS_PER_SECOND UINT64_C(1000000000)
#define LOOK          (NS_PER_SECOND / 10) /* of the process's CPU time */
#define WAIT_LEAST    (10 * NS_PER_SECOND)
#define WAIT_MOST     (640 * NS_PER_SECOND)

static uint64_t cost;                        /* ns, up to the last look */
static uint64_t own, bytes, process;         /* at the last look */
static uint64_t looked_cost, looked_process; /* when it was weighed */
static uint64_t wait;                        /* ns */

static void look(void)
{
	uint64_t now = ep_clock_read(CLOCK_THREAD_CPUTIME_ID), copied = ep_sched_copied();
	uint64_t byte = ep_sched->source == EP_SCHED_PERF ? BYTE_OF_PERF : BYTE_OF_FTRACE;

	cost += now - own + (copied - bytes) * byte;
	own = now;
	bytes = copied;
	process = ep_clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

void ep_sched_cost_begin(void)
{
	own = ep_clock_read(CLOCK_THREAD_CPUTIME_ID);
	bytes = ep_sched_copied();
	process = ep_clock_read(CLOCK_PROCESS_CPUTIME_ID);
	looked_cost = cost;
	looked_process = process;
}

bool ep_sched_cost_too_much(void)
{
	uint64_t had, work;

	look();
	if (process - looked_process < LOOK)
		return false;
	had = cost - looked_cost;
	work = process - looked_process;
	work = had < work ? work - had : 1;
	looked_cost = cost;
	looked_process = process;
	if (!ep_settings.budget || ep_settings.sched_asked ||
	    had * 2000000 / work <= ep_settings.budget)
		return false;
	wait = wait ? wait * 2 : WAIT_LEAST;
	if (wait > WAIT_MOST)
		wait = WAIT_MOST;
	return true;
}

uint64_t ep_sched_cost_wait(void)
{
	return wait;
}

uint64_t ep_sched_cost(void)
{
	return __atomic_load_n(&cost, __ATOMIC_RELAXED);
}

void ep_sched_cost_forget(void)
{
	cost = 0;
}

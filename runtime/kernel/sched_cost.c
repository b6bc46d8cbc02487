/* SPDX-License-Identifier: BSD-2-Clause */
/* sched_cost.c: by the drain's own clock, and by what it copied. */
#include "runtime/kernel/sched_cost.h"

#include <sys/resource.h>
#include <time.h>

#include "runtime/kernel/sched_section.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/vdso.h"
#include "runtime/settings/settings.h"

/* What a byte of an event costs the thread that it tells of, which records it in the kernel while
 * it switches; ns (measured on redis: docs/overhead.md). */
#define BYTE_OF_FTRACE 5
#define BYTE_OF_PERF   11

/* What a switch costs by all that, with the drain's part; ns (a backend of PostgreSQL's: 1,430). */
#define SWITCH 1400

#define NS_PER_SECOND UINT64_C(1000000000)
#define EVIDENCE      (NS_PER_SECOND / 50) /* of the process's CPU time: for the first judgement */
#define LOOK          (NS_PER_SECOND / 10) /* … and, in the end, from one to the next */
#define WAIT_LEAST    (10 * NS_PER_SECOND)
#define WAIT_MOST     (640 * NS_PER_SECOND)

static uint64_t cost;                        /* ns, up to the last look */
static uint64_t own, bytes, process;         /* at the last look */
static uint64_t looked_cost, looked_process; /* when it was weighed */
static uint64_t evidence;                    /* ns of CPU time until it is weighed again */
static uint64_t wait;                        /* ns */
static uint64_t seen_switches, seen_cpu;     /* of the process, when it was looked at last */

/* Parts per million that it may have of the process's CPU time. */
static bool is_too_much(uint64_t has, uint64_t process_cpu)
{
	uint64_t rest = has < process_cpu ? process_cpu - has : 1;

	return ep_settings.budget && !ep_settings.sched_asked &&
	       has * 2000000 / rest > ep_settings.budget;
}

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
	evidence = EVIDENCE;
}

bool ep_sched_cost_too_much(void)
{
	uint64_t had, work;

	look();
	if (process - looked_process < evidence)
		return false;
	evidence = evidence < LOOK / 2 ? evidence * 2 : LOOK;
	had = cost - looked_cost;
	work = process - looked_process;
	looked_cost = cost;
	looked_process = process;
	if (!is_too_much(had, work))
		return false;
	wait = wait ? wait * 2 : WAIT_LEAST;
	if (wait > WAIT_MOST)
		wait = WAIT_MOST;
	return true;
}

/* False: the kernel does not say, or nobody may ask it. */
static bool count_switches(uint64_t *switches, uint64_t *cpu)
{
	struct rusage usage;

	if (ep_jailed() || ep_syscall_failed(ep_syscall2(SYS_getrusage, RUSAGE_SELF, (long)&usage)))
		return false;
	*switches = (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
	*cpu = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_SECOND +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
	return true;
}

bool ep_sched_cost_foreseen(void)
{
	uint64_t switches, cpu, since, of;

	if (!count_switches(&switches, &cpu))
		return false;
	since = switches - seen_switches;
	of = cpu - seen_cpu;
	seen_switches = switches;
	seen_cpu = cpu;
	return of >= EVIDENCE && is_too_much(since * SWITCH, of);
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
	seen_switches = seen_cpu = 0;
}

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
#define FEW    32 /* switches, that foretell nothing */

#define NS_PER_SECOND UINT64_C(1000000000)
#define MILLION       UINT64_C(1000000)
#define EVIDENCE      (NS_PER_SECOND / 50) /* of the process's CPU time: for the first judgement */
#define LOOK          (NS_PER_SECOND / 10) /* … and, in the end, from one to the next */
#define WAIT_LEAST    (10 * NS_PER_SECOND)
#define WAIT_MOST     (640 * NS_PER_SECOND)
#define SAVED         (60 * NS_PER_SECOND) /* as much as so much calm saves */

static uint64_t cost;                /* ns, up to the last look */
static uint64_t own, bytes, process; /* at the last look */
static uint64_t others;              /* ns of the drain for something else, at the last look */
static uint64_t drains;              /* ns: the drain's own part, since it was weighed */
static uint64_t looked_cost, looked_process; /* when it was weighed */
static uint64_t evidence;                    /* ns of CPU time until it is weighed again */
static uint64_t wait;                        /* ns */
static uint64_t seen_switches, seen_cpu;     /* of the process, when it was looked at last */
static uint64_t seen_at, weighed_at;         /* CLOCK_MONOTONIC, ns: when that was; as looked_… */
static uint64_t first_waits;                 /* voluntary switches when the drain was made */
/* ns that EPITAPH_IDLE_BUDGET allowed and that were not taken: a storm of some seconds after a calm
 * hour is recorded, one that stays is not. */
static uint64_t saved;

/* What it may have of `process_cpu`, all in ns, and in `time`: half of the budget, or what the
 * machine can spare. */
static bool is_too_much(uint64_t has, uint64_t process_cpu, uint64_t time)
{
	uint64_t rest = has < process_cpu ? process_cpu - has : 1;
	uint64_t spare = time / MILLION * ep_settings.idle_budget + saved;

	if (!ep_settings.budget || ep_settings.sched_asked)
		return false;
	return has > spare && has * 2 * MILLION / rest > ep_settings.budget;
}

static void save(uint64_t has, uint64_t time)
{
	uint64_t most = SAVED / MILLION * ep_settings.idle_budget;

	saved += time / MILLION * ep_settings.idle_budget;
	saved -= has < saved ? has : saved;
	if (saved > most)
		saved = most;
}

static void look(uint64_t other)
{
	uint64_t now = ep_clock_read(CLOCK_THREAD_CPUTIME_ID), copied = ep_sched_copied();
	uint64_t drained, byte = ep_sched->source == EP_SCHED_PERF ? BYTE_OF_PERF : BYTE_OF_FTRACE;

	drained = now - own;
	drained -= other - others < drained ? other - others : drained;
	others = other;
	drains += drained;
	cost += drained + (copied - bytes) * byte;
	own = now;
	bytes = copied;
	process = ep_clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

void ep_sched_cost_begin(void)
{
	own = ep_clock_read(CLOCK_THREAD_CPUTIME_ID);
	cost += own; /* to open the buffers */
	bytes = ep_sched_copied();
	process = ep_clock_read(CLOCK_PROCESS_CPUTIME_ID);
	looked_cost = cost;
	looked_process = process;
	weighed_at = ep_clock_read(CLOCK_MONOTONIC);
	evidence = EVIDENCE;
}

enum ep_sched_verdict ep_sched_cost_weigh(uint64_t other)
{
	uint64_t had, work, now, time, mine;

	look(other);
	if (process - looked_process < evidence)
		return EP_SCHED_FINE;
	evidence = evidence < LOOK / 2 ? evidence * 2 : LOOK;
	had = cost - looked_cost;
	work = process - looked_process;
	now = ep_clock_read(CLOCK_MONOTONIC);
	time = now - weighed_at;
	looked_cost = cost;
	looked_process = process;
	weighed_at = now;
	mine = drains;
	drains = 0;
	if (!is_too_much(had, work, time)) {
		save(had, time);
		return EP_SCHED_FINE;
	}
	if (mine > had / 2)
		return EP_SCHED_TOO_OFTEN;
	wait = wait ? wait * 2 : WAIT_LEAST;
	if (wait > WAIT_MOST)
		wait = WAIT_MOST;
	return EP_SCHED_TOO_MUCH;
}

/* False: the kernel does not say, or may not be asked. */
static bool ask(int whose, struct rusage *usage)
{
	return !ep_jailed() && !ep_syscall_failed(ep_syscall2(SYS_getrusage, whose, (long)usage));
}

static uint64_t cpu_of(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * NS_PER_SECOND +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
}

/* Of the process, the drain's own left out: how often threads have waited. */
static uint64_t waits(void)
{
	struct rusage all, own_ones;

	if (!ask(RUSAGE_SELF, &all) || !ask(RUSAGE_THREAD, &own_ones))
		return 0;
	return (uint64_t)(all.ru_nvcsw - own_ones.ru_nvcsw);
}

void ep_sched_cost_before(void)
{
	struct rusage all;

	if (!ask(RUSAGE_SELF, &all))
		return;
	first_waits = (uint64_t)all.ru_nvcsw;
	if (seen_at)
		return;
	/* What came before is another program's, which has become this one by exec. */
	seen_switches = (uint64_t)(all.ru_nvcsw + all.ru_nivcsw);
	seen_cpu = cpu_of(&all);
	seen_at = ep_clock_read(CLOCK_MONOTONIC);
}

bool ep_sched_cost_waits(void)
{
	return waits() > first_waits;
}

bool ep_sched_cost_foreseen(void)
{
	uint64_t switches, cpu, now = ep_clock_read(CLOCK_MONOTONIC), since, of, time;
	struct rusage all;

	if (!ask(RUSAGE_SELF, &all))
		return false;
	switches = (uint64_t)(all.ru_nvcsw + all.ru_nivcsw);
	cpu = cpu_of(&all);
	since = switches - seen_switches;
	of = cpu - seen_cpu;
	time = now - seen_at;
	seen_switches = switches;
	seen_cpu = cpu;
	seen_at = now;
	return since > FEW && is_too_much(since * SWITCH, of, time);
}

bool ep_sched_cost_of_age(uint64_t age)
{
	return ep_settings.sched_asked || age >= NS_PER_SECOND ||
	       ep_clock_read(CLOCK_PROCESS_CPUTIME_ID) >= LOOK;
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
	seen_switches = seen_cpu = seen_at = saved = 0;
}

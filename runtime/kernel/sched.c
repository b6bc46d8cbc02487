/* SPDX-License-Identifier: BSD-2-Clause */
/* sched.c: the drain's life. One drain at a time. */
#include "runtime/kernel/sched.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/backing.h"
#include "runtime/arena/inherit.h"
#include "runtime/arena/rescue.h"
#include "runtime/facts/clock.h"
#include "runtime/kernel/remover.h"
#include "runtime/kernel/sched_cost.h"
#include "runtime/kernel/sched_section.h"
#include "runtime/kernel/sched_sources.h"
#include "runtime/lib/futex.h"
#include "runtime/lib/helper.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/emulator.h"
#include "runtime/x86_64/tsc.h"

/* A process that nobody asked about is this old before it gets a drain: a short one shall not pay
 * for it. An ftrace instance takes 50 ms to make, and as long to remove, and a process that exits
 * meanwhile waits for it. */
#define GROWN_UP UINT64_C(100000000) /* ns */

/* Between two looks at the kernel's buffers: what is in them at a crash stays there. Shorter while
 * they fill up. */
#define PERIOD_MOST  10000000 /* ns */
#define PERIOD_LEAST 1000000
#define FULL         64 /* of 256: sooner next time */
#define EMPTY        8

#define WAIT_MOST 1 /* s, for a drain to have begun */

/* Until a process for which it would cost too much is looked at again. */
#define LOOK_AGAIN UINT64_C(1000000000) /* ns */

/* The last that is known of the section's head, for when that is written over. */
static struct ep_sched spare;
static struct ep_helper drain;
static _Atomic uint64_t due = UINT64_MAX; /* TSC */
static bool resting EP_IN_DATA;           /* the drain does, while handlers of faults run */
static bool complained;
/* Nobody waits for its drain, which comes late anyway; and what it says might land in a file that
 * it has opened in place of its parent's stderr. */
static bool in_child;
/* It has ended by itself, as it cost too much. */
static bool gave_up;

static void keep_head(void)
{
	ep_bytes_copy(&spare, ep_sched, sizeof(spare));
	ep_rescue_keep_sched(ep_sched);
}

/* Of another drain: the parent's, or one that went with the arena's file. */
static void forget(bool child)
{
	ep_helper_forget(&drain);
	ep_remover_forget();
	atomic_store(&due, UINT64_MAX);
	resting = false;
	in_child = child;
	gave_up = false;
	if (child)
		ep_sched_cost_forget();
	ep_ftrace_forget();
	ep_perf_forget();
}

void ep_sched_begin(bool child)
{
	uint64_t wait = ep_clock_cycles(GROWN_UP);

	forget(child);
	if (!ep_sched_lay_out())
		return;
	keep_head();
	if (ep_settings.sched_asked && !child)
		wait = 0;
	else if (wait < ep_clock_cycles(ep_sched_cost_wait()))
		wait = ep_clock_cycles(ep_sched_cost_wait());
	atomic_store(&due, ep_tsc() + wait);
}

/* ---- the drain itself ---- */

static void set_state(uint32_t state)
{
	__atomic_store_n(&ep_sched->state, state, __ATOMIC_RELEASE);
	ep_futex_wake(&ep_sched->state, INT32_MAX);
}

/* 0, or -1: nobody lets us. */
static int open_source(void)
{
	uint64_t bytes = ep_settings.sched_memory / 2;

	ep_sched->kernel_bytes = 0;
	ep_sched->ftrace_error = ep_sched->perf_error = 0;
	if (ep_settings.sched & EP_SCHED_WANT_FTRACE) {
		ep_sched->ftrace_error = (uint32_t)ep_ftrace_open(bytes, &drain);
		ep_sched->source = EP_SCHED_FTRACE;
		if (!ep_sched->ftrace_error)
			return 0;
	}
	/* Whose filter is not asked for what it may kill for. */
	if (ep_settings.sched & EP_SCHED_WANT_PERF &&
	    (ep_settings.sched_asked || !ep_jail_inherited())) {
		ep_sched->perf_error = (uint32_t)ep_perf_open(bytes);
		ep_sched->source = EP_SCHED_PERF;
		if (!ep_sched->perf_error)
			return 0;
	}
	ep_sched->source = EP_SCHED_NONE;
	return -1;
}

static unsigned drain_source(void)
{
	unsigned full = ep_sched->source == EP_SCHED_FTRACE ? ep_ftrace_drain() : ep_perf_drain();

	ep_sched->drained_tsc = ep_tsc();
	ep_sched->drains++;
	ep_clock_refresh(ep_sched->drained_tsc);
	return full;
}

/* What is followed is what it was when the drain began. */
static bool sched_intact(void)
{
	if (!ep_arena_intact())
		return false;
	if (ep_sched->pool_offset == spare.pool_offset && ep_sched->pool_size == spare.pool_size &&
	    ep_sched->source == spare.source)
		return true;
	ep_integrity_end(EP_OFF_OVERWRITTEN);
	return false;
}

/* Until somebody wakes it: its stack may be written over meanwhile. */
static void rest(uint32_t wanted)
{
	__atomic_store_n(&resting, true, __ATOMIC_SEQ_CST);
	ep_helper_sleep(&drain, wanted, EP_FOR_EVER);
	__atomic_store_n(&resting, false, __ATOMIC_SEQ_CST);
}

bool ep_sched_rests(void)
{
	return __atomic_load_n(&resting, __ATOMIC_SEQ_CST);
}

bool ep_sched_wake(void)
{
	return drain.tid && ep_helper_wake(&drain);
}

/* False: it costs too much. */
static bool drain_until_stopped(void)
{
	uint64_t period = PERIOD_LEAST;
	uint32_t wanted;

	while ((wanted = ep_helper_wanted(&drain)) != 0) {
		unsigned full;

		if (ep_faults_run() || ep_overwritten()) {
			rest(wanted);
			continue;
		}
		ep_helper_sleep(&drain, wanted, period);
		if (ep_faults_run() || !sched_intact())
			continue;
		full = drain_source();
		if (ep_sched_cost_too_much())
			return false;
		if (full >= FULL && period > PERIOD_LEAST)
			period /= 2;
		if (full < EMPTY && period < PERIOD_MOST)
			period *= 2;
	}
	return true;
}

/* From then on a thread that enters a block may make another one. */
static void come_again(void)
{
	__atomic_store_n(&gave_up, true, __ATOMIC_RELEASE);
	atomic_store(&due, ep_tsc() + ep_clock_cycles(ep_sched_cost_wait()));
}

static void close_source(void)
{
	if (spare.source == EP_SCHED_FTRACE)
		ep_ftrace_stop();
	if (!ep_overwritten()) {
		drain_source();
		ep_sched->stop_tsc = ep_tsc();
	}
	if (spare.source == EP_SCHED_FTRACE) {
		ep_ftrace_close();
		if (!ep_remover_start(&drain))
			ep_ftrace_remove();
	} else {
		ep_perf_close();
	}
}

static void run_drain(void)
{
	bool cheap = true;

	ep_sched->tid = (uint32_t)ep_syscall0(SYS_gettid);
	ep_helper_begin("epitaph-sched");
	ep_remover_bury();
	if (open_source() < 0) {
		set_state(EP_SCHED_REFUSED);
	} else {
		ep_sched->start_tsc = ep_tsc();
		ep_sched->stop_tsc = 0;
		set_state(EP_SCHED_ON);
		keep_head();
		ep_sched_cost_begin();
		cheap = drain_until_stopped();
		close_source();
		set_state(cheap ? EP_SCHED_STOPPED : EP_SCHED_COSTLY);
	}
	if (!cheap)
		come_again();
	ep_helper_exit();
}

/* ---- its beginning and its end ---- */

static bool is_ours(void)
{
	return ep_sched && ep_inherits_nothing();
}

static void note_start(void)
{
	set_state(EP_SCHED_STARTING);
}

static void refuse(uint32_t error)
{
	ep_sched->ftrace_error = ep_sched->perf_error = error;
	set_state(EP_SCHED_REFUSED);
}

static void complain(void)
{
	char line[160];
	struct ep_text text;

	complained = true;
	ep_text_init(&text, line, sizeof(line));
	ep_text_add(&text, "epitaph: no scheduling events:");
	if (ep_sched->ftrace_error) {
		ep_text_add(&text, " ftrace: error ");
		ep_text_add_number(&text, ep_sched->ftrace_error);
	}
	if (ep_sched->perf_error) {
		ep_text_add(&text, ep_sched->ftrace_error ? ", perf: error " : " perf: error ");
		ep_text_add_number(&text, ep_sched->perf_error);
	}
	ep_text_add(&text, " (EPITAPH_SCHED=off: none wanted)\n");
	ep_text_complain(&text);
}

static void wait_for_drain(void)
{
	uint32_t state;
	uint64_t until = ep_tsc() + ep_clock_cycles(WAIT_MOST * 1000000000ull);

	while ((state = __atomic_load_n(&ep_sched->state, __ATOMIC_ACQUIRE)) == EP_SCHED_STARTING &&
	       ep_tsc() < until)
		ep_futex_wait(&ep_sched->state, state, WAIT_MOST * 1000000000ull);
	if (state == EP_SCHED_REFUSED && !complained && !in_child)
		complain();
}

bool ep_sched_leave(void)
{
	if (!drain.tid || !is_ours() || !ep_helper_stop(&drain))
		return false;
	ep_sched->tid = 0;
	return true;
}

/* valgrind ends a process that asks for such a thread. */
static int start_drain(void)
{
	/* It may come to whoever writes to an arena whose file is cut off. */
	drain.signals = ep_backing_on() ? EP_SIGNAL_BIT(SIGBUS) : 0;
	return ep_runs_on_valgrind() ? -ENOSYS : ep_helper_start(&drain, note_start, run_drain);
}

static void start_now(void)
{
	int error = ep_helper_busy(&drain) ? 0 : start_drain();

	if (error)
		refuse((uint32_t)-error);
	if (!ep_settings.sched_asked || in_child)
		return;
	wait_for_drain();
	if (ep_sched->state == EP_SCHED_REFUSED)
		ep_sched_leave(); /* it is about to go: not before it has */
}

void ep_sched_look(uint64_t tsc)
{
	if (tsc < atomic_load_explicit(&due, memory_order_relaxed) || !is_ours())
		return;
	/* Once: of two callers the second finds it done. */
	if (atomic_exchange(&due, UINT64_MAX) == UINT64_MAX)
		return;
	if (!ep_settings.sched_asked && ep_sched_cost_foreseen()) {
		set_state(EP_SCHED_COSTLY);
		atomic_store(&due, tsc + ep_clock_cycles(LOOK_AGAIN));
		return;
	}
	if (__atomic_exchange_n(&gave_up, false, __ATOMIC_ACQ_REL))
		ep_sched_leave(); /* that was, and has gone */
	start_now();
}

void ep_sched_return(void)
{
	if (is_ours())
		start_now();
}

void ep_sched_return_later(void)
{
	if (is_ours())
		atomic_store(&due, ep_tsc() + ep_clock_cycles(GROWN_UP));
}

void ep_sched_before_exec(void)
{
	if (ep_sched_leave())
		ep_sched_return_later();
}

/* It takes 55 ms to begin, which the process's end need not wait for: the kernel kills it. False:
 * it has begun. */
static bool abandon(void)
{
	uint64_t mask;
	bool left;

	if (!drain.tid || __atomic_load_n(&ep_sched->state, __ATOMIC_ACQUIRE) != EP_SCHED_STARTING)
		return false;
	mask = ep_signals_block(drain.signals);
	left = ep_remover_abandon(&drain);
	/* If the end is not as near as it seems. */
	if (left)
		ep_helper_dismiss(&drain);
	ep_signals_restore(mask);
	return left;
}

void ep_sched_end(void)
{
	if (!is_ours())
		return;
	atomic_store(&due, UINT64_MAX);
	if (!abandon())
		ep_sched_leave();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* sched.c: the drain's life. One drain at a time. */
#include "runtime/kernel/sched.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/backing.h"
#include "runtime/arena/inherit.h"
#include "runtime/arena/rescue.h"
#include "runtime/facts/clock.h"
#include "runtime/kernel/remover.h"
#include "runtime/kernel/sched_cost.h"
#include "runtime/kernel/sched_section.h"
#include "runtime/kernel/sched_sources.h"
#include "runtime/lib/complain.h"
#include "runtime/lib/futex.h"
#include "runtime/lib/helper.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/lib/vdso.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/emulator.h"
#include "runtime/x86_64/tsc.h"

/* A process that did not ask for events is this old when its drain looks whether it has waited, and
 * opens the kernel's buffers if so: a short process does not pay for them. A forked child, of which
 * there may be a thousand a second, does not even get a thread before. */
#define EARLY UINT64_C(5000000) /* ns */
#define CHILD UINT64_C(2000000)

/* From this age on one that only computes has its drain, too, and one that fills blocks an ftrace
 * instance: that takes 50 ms to make, and as long to remove, and a process that exits meanwhile
 * waits for it. */
#define GROWN_UP UINT64_C(100000000) /* ns */

/* Between two looks at the kernel's buffers: what is in them at a crash stays there. Shorter while
 * they fill up, longer where looking costs more than what is found. */
#define PERIOD_MOST  10000000 /* ns */
#define PERIOD_LEAST 1000000
#define PERIOD_CALM  80000000
#define LINGERS      100000000 /* where there is nothing to look at */
#define FULL         64        /* of 256: sooner next time */
#define EMPTY        8

#define WAIT_MOST 1 /* s, for a drain to have begun */

/* Until a process for which it would cost too much is looked at again: as long as it has lived,
 * within these; ns. */
#define LOOK_AGAIN_LEAST UINT64_C(10000000)
#define LOOK_AGAIN_MOST  UINT64_C(1000000000)

/* The last that is known of the section's head, for when that is written over, or what was written
 * to it is lost to a rescue. */
static struct ep_sched spare;
static uint32_t source; /* EP_SCHED_: what the drain reads */
static struct ep_helper drain;
static _Atomic uint64_t due = UINT64_MAX; /* TSC */
static bool resting EP_IN_DATA;           /* the drain does, while handlers of faults run */
static bool complained;
/* Nobody waits for its drain, which comes late anyway; and what it says might land in a file that
 * it has opened in place of its parent's stderr. */
static bool in_child;
/* It has ended by itself, as it cost too much, or is about to. */
static bool gave_up;
static uint64_t born; /* CLOCK_MONOTONIC, ns: when this process began to be traced */
/* perf serves until ftrace does, which a thread that fills a block asks for. */
static bool interim, ftrace_due;
static bool rings; /* a thread has its ring */

static void keep_head(uint32_t state)
{
	ep_bytes_copy(&spare, ep_sched, sizeof(spare));
	spare.source = source;
	spare.state = state;
	ep_rescue_keep_sched(&spare);
}

/* Of another drain: the parent's, or one that went with the arena's file. */
static void forget(bool child)
{
	ep_helper_forget(&drain);
	ep_remover_forget();
	atomic_store(&due, UINT64_MAX);
	resting = false;
	in_child = child;
	gave_up = interim = ftrace_due = rings = false;
	born = ep_clock_read(CLOCK_MONOTONIC);
	if (child)
		ep_sched_cost_forget();
	ep_ftrace_forget();
	ep_perf_forget();
}

void ep_sched_begin(bool child)
{
	uint64_t wait = !child ? 0 : ep_settings.sched_asked ? GROWN_UP : CHILD;

	forget(child);
	if (!ep_sched_lay_out(ep_sched_looks != NULL))
		return;
	if (!ep_settings.sched && wait < EARLY)
		wait = EARLY;
	source = EP_SCHED_NONE;
	keep_head(ep_sched->state);
	if (wait < ep_sched_cost_wait())
		wait = ep_sched_cost_wait();
	atomic_store(&due, ep_tsc() + ep_clock_cycles(wait));
}

/* ---- the drain itself ---- */

static void set_state(uint32_t state)
{
	__atomic_store_n(&ep_sched->state, state, __ATOMIC_RELEASE);
	ep_futex_wake(&ep_sched->state, INT32_MAX);
}

static bool open_ftrace(void)
{
	if (!(ep_settings.sched & EP_SCHED_WANT_FTRACE))
		return false;
	ep_sched->ftrace_error = (uint32_t)ep_ftrace_open(ep_settings.sched_memory / 2, &drain);
	if (!ep_sched->ftrace_error)
		ep_sched->source = source = EP_SCHED_FTRACE;
	return !ep_sched->ftrace_error;
}

/* An inherited filter of system calls may kill on perf_event_open. */
static bool open_perf(void)
{
	if (!(ep_settings.sched & EP_SCHED_WANT_PERF) ||
	    (!ep_settings.sched_asked && ep_jail_inherited()))
		return false;
	ep_sched->perf_error = (uint32_t)ep_perf_open(ep_settings.sched_memory / 2);
	if (!ep_sched->perf_error)
		ep_sched->source = source = EP_SCHED_PERF;
	return !ep_sched->perf_error;
}

/*
 * False: neither may be had. An ftrace instance takes 50 ms, which an early one does not have: perf
 * is there at once, and serves until then.
 */
static bool open_source(bool early)
{
	ep_sched->kernel_bytes = 0;
	ep_sched->ftrace_error = ep_sched->perf_error = 0;
	ep_sched->source = source = EP_SCHED_NONE;
	if (early && open_perf()) {
		if (ep_settings.sched & EP_SCHED_WANT_FTRACE) {
			__atomic_store_n(&interim, true, __ATOMIC_RELEASE);
			atomic_store(&due, ep_tsc() + ep_clock_cycles(GROWN_UP));
		}
		return true;
	}
	return open_ftrace() || (!early && open_perf());
}

static uint64_t age(void)
{
	return ep_clock_read(CLOCK_MONOTONIC) - born;
}

static unsigned drain_source(void)
{
	unsigned full = source == EP_SCHED_FTRACE ? ep_ftrace_drain() : ep_perf_drain();

	ep_sched->drained_tsc = ep_tsc();
	ep_sched->drains++;
	ep_clock_refresh(ep_sched->drained_tsc);
	return full;
}

/* The head is what it was when the drain began. What was written to it while a rescue copied the
 * arena is not in the copy. */
static bool sched_intact(void)
{
	bool same;

	if (!ep_arena_intact())
		return false;
	same = ep_sched->pool_offset == spare.pool_offset &&
	       ep_sched->pool_size == spare.pool_size && ep_sched->source == source;
	if (ep_rescue_happened()) {
		if (!same || ep_sched->state != spare.state)
			ep_bytes_copy(ep_sched, &spare, sizeof(spare));
		return true;
	}
	if (same)
		return true;
	ep_integrity_end(EP_OFF_OVERWRITTEN);
	return false;
}

void (*ep_sched_besides)(void);
const struct ep_sched_looks *ep_sched_looks;

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

/* Sleeps, until it is woken; looks at the threads meanwhile, and at the end. */
static void doze(uint32_t wanted, uint64_t ns)
{
	while (ns) {
		uint64_t period = ep_sched_looks ? ep_sched_looks->period() : ns,
			 slice = period < ns ? period : ns;

		ep_helper_sleep(&drain, wanted, slice);
		ns -= slice;
		if (ep_helper_wanted(&drain) != wanted || ep_faults_run() || ep_overwritten() ||
		    !ep_arena_intact())
			return;
		if (ep_sched_looks)
			ep_sched_looks->take();
	}
}

/* The kernel clears that before the task is gone. */
bool ep_sched_is_task(void)
{
	return drain.tid && __atomic_load_n(&drain.alive, __ATOMIC_ACQUIRE) != 0;
}

/* Until the process has waited, or is so old that it may as well be looked at. False: the drain is
 * to end. */
static bool wait_for_reason(void)
{
	uint64_t when = EARLY, now;
	uint32_t wanted;

	while ((wanted = ep_helper_wanted(&drain)) != 0) {
		now = age();
		if (ep_faults_run() || ep_overwritten())
			rest(wanted);
		else if (now < when)
			doze(wanted, when - now);
		else if (now >= GROWN_UP || ep_sched_cost_waits())
			return true;
		else
			when = when * 2 < GROWN_UP ? when * 2 : GROWN_UP;
	}
	return false;
}

/* Both record meanwhile: of what both have, a reader takes perf's, up to when that was copied
 * last. */
static void change_to_ftrace(void)
{
	uint64_t cpus = ep_sched->cpus, bytes = ep_sched->kernel_bytes;

	__atomic_store_n(&ftrace_due, false, __ATOMIC_RELAXED);
	if (!open_ftrace()) {
		ep_sched->cpus = (uint32_t)cpus;
		ep_sched->kernel_bytes = bytes;
		return;
	}
	ep_perf_drain();
	ep_perf_close();
	keep_head(EP_SCHED_ON);
}

/* False: it costs too much. */
static bool drain_until_stopped(void)
{
	uint64_t period = PERIOD_LEAST, most = PERIOD_MOST;
	enum ep_sched_verdict verdict;
	uint32_t wanted;

	while ((wanted = ep_helper_wanted(&drain)) != 0) {
		unsigned full;

		if (ep_faults_run() || ep_overwritten()) {
			rest(wanted);
			continue;
		}
		doze(wanted, period);
		if (ep_faults_run() || !sched_intact())
			continue;
		if (ep_sched_besides)
			ep_sched_besides();
		if (__atomic_load_n(&ftrace_due, __ATOMIC_ACQUIRE) && ep_sched_cost_of_age(age()))
			change_to_ftrace();
		full = drain_source();
		verdict = ep_sched_cost_weigh(ep_sched_looks ? ep_sched_looks->cost() : 0);
		if (verdict == EP_SCHED_TOO_MUCH ||
		    (verdict == EP_SCHED_TOO_OFTEN && most >= PERIOD_CALM))
			return false;
		if (verdict == EP_SCHED_TOO_OFTEN)
			most *= 2;
		if (full >= FULL && period > PERIOD_LEAST)
			period /= 2;
		if (full < EMPTY && period < most)
			period *= 2;
	}
	return true;
}

/* From then on a thread that enters a block, or has waited, may make another one. */
static void come_again(uint64_t wait)
{
	__atomic_store_n(&interim, false, __ATOMIC_RELAXED);
	__atomic_store_n(&ftrace_due, false, __ATOMIC_RELAXED);
	__atomic_store_n(&gave_up, true, __ATOMIC_RELEASE);
	atomic_store(&due, ep_tsc() + ep_clock_cycles(wait));
}

static uint64_t look_again(void)
{
	uint64_t wait = age();

	if (wait < LOOK_AGAIN_LEAST)
		return LOOK_AGAIN_LEAST;
	return wait < LOOK_AGAIN_MOST ? wait : LOOK_AGAIN_MOST;
}

static void close_source(void)
{
	if (source == EP_SCHED_FTRACE)
		ep_ftrace_stop();
	if (!ep_overwritten()) {
		drain_source();
		ep_sched->stop_tsc = ep_tsc();
	}
	if (source == EP_SCHED_FTRACE) {
		ep_ftrace_close();
		if (!ep_remover_start(&drain))
			ep_ftrace_remove();
	} else {
		ep_perf_close();
	}
}

/* Events are refused, not wanted, or cost too much, or somebody wants the drain to end: until then
 * it calls ep_sched_besides, if there is one, and looks. */
static void linger(void)
{
	uint32_t wanted;

	while ((ep_sched_besides || ep_sched_looks) && (wanted = ep_helper_wanted(&drain)) != 0) {
		if (ep_faults_run() || ep_overwritten()) {
			rest(wanted);
			continue;
		}
		doze(wanted, LINGERS);
		if (ep_sched_besides && ep_settings.sched && !ep_faults_run() && !ep_overwritten())
			ep_sched_besides();
	}
}

static void run_drain(void)
{
	bool cheap = true, asked = ep_settings.sched_asked;

	ep_helper_begin("epitaph-sched");
	ep_remover_bury();
	if (!ep_settings.sched) {
		linger();
		ep_helper_exit();
	}
	if (!asked) {
		if (!wait_for_reason())
			ep_helper_exit();
		if (ep_sched_cost_foreseen()) {
			set_state(EP_SCHED_COSTLY);
			come_again(look_again());
			linger();
			ep_helper_exit();
		}
	}
	set_state(EP_SCHED_STARTING);
	if (!open_source(!asked)) {
		set_state(EP_SCHED_REFUSED);
	} else {
		ep_sched->start_tsc = ep_tsc();
		ep_sched->stop_tsc = 0;
		set_state(EP_SCHED_ON);
		keep_head(EP_SCHED_ON);
		ep_sched_cost_begin();
		cheap = drain_until_stopped();
		close_source();
		set_state(cheap ? EP_SCHED_STOPPED : EP_SCHED_COSTLY);
	}
	if (!cheap)
		come_again(ep_sched_cost_wait());
	linger();
	ep_helper_exit();
}

/* ---- its beginning and its end ---- */

static bool is_ours(void)
{
	/* Where the program has taken the arena's place, the drain is gone, and its state with it.
	 */
	return ep_sched && epitaph_root.arena_address && ep_inherits_nothing();
}

/* One that was not asked for looks first. */
static void note_start(void)
{
	if (ep_settings.sched_asked)
		set_state(EP_SCHED_STARTING);
	ep_sched_cost_before();
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
	ep_complain(&text);
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
	__atomic_store_n(drain.shown, 0, __ATOMIC_RELAXED);
	return true;
}

bool ep_sched_leave_memory(void)
{
	return is_ours() && ep_remover_wait();
}

/* valgrind ends a process that asks for such a thread. */
static int start_drain(void)
{
	/* It may come to whoever writes to an arena whose file is cut off. */
	drain.shown = ep_settings.sched ? &ep_sched->tid : &ep_arena->looker;
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
	if (ep_sched->state == EP_SCHED_REFUSED && !ep_sched_besides)
		ep_sched_leave(); /* it is about to go: not before it has */
}

void ep_sched_look(uint64_t tsc, enum ep_sched_occasion occasion)
{
	if (tsc < atomic_load_explicit(&due, memory_order_relaxed) || !is_ours() ||
	    (!ep_settings.sched && (occasion != EP_SCHED_BLOCK || ep_arena->timestamp_every == 1)))
		return;
	/* A process whose only thread begins may be over in a moment: a thread more is 50 us. */
	if (occasion == EP_SCHED_RING && !ep_settings.sched_asked &&
	    !__atomic_exchange_n(&rings, true, __ATOMIC_RELAXED))
		return;
	if (__atomic_load_n(&interim, __ATOMIC_ACQUIRE) && occasion != EP_SCHED_BLOCK)
		return;
	/* Once: of two callers the second finds it done. */
	if (atomic_exchange(&due, UINT64_MAX) == UINT64_MAX)
		return;
	if (__atomic_exchange_n(&interim, false, __ATOMIC_ACQ_REL)) {
		__atomic_store_n(&ftrace_due, true, __ATOMIC_RELEASE);
		return;
	}
	if (__atomic_exchange_n(&gave_up, false, __ATOMIC_ACQ_REL))
		ep_sched_leave(); /* that one lingers, or has gone */
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

/* It has opened nothing, and the kernel ends it with the process: nobody need wait for that. */
static bool is_idle(void)
{
	uint32_t state = ep_sched ? __atomic_load_n(&ep_sched->state, __ATOMIC_ACQUIRE) : 0;

	return drain.tid && !ep_settings.sched_asked &&
	       (state == EP_SCHED_OFF || state == EP_SCHED_COSTLY || state == EP_SCHED_REFUSED);
}

void ep_sched_before_exec(void)
{
	if (!is_ours())
		return;
	if (is_idle()) {
		/* If it does not come to that: another one. */
		ep_helper_dismiss(&drain);
		come_again(LOOK_AGAIN_LEAST);
		return;
	}
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
	if (is_idle())
		ep_helper_dismiss(&drain);
	else if (!abandon())
		ep_sched_leave();
}

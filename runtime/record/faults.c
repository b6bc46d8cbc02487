/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults.c: which threads are in handlers of faults. That lies in initialized data, as everything
 * that must hold meanwhile. The end of a handler is seen by the stack: however it was left, the
 * next hook's frame is not below it.
 */
#include "runtime/record/faults.h"

#include "runtime/arena/arena.h"
#include "runtime/kernel/sched.h"
#include "runtime/lib/futex.h"
#include "runtime/lib/hookcode.h"
#include "runtime/record/intact.h"
#include "runtime/record/ring.h"
#include "runtime/settings/settings.h"

#define THREADS    8 /* more at once go on as ever */
#define STACK_MOST (UINT64_C(64) << 20)
#define LOOK       50000 /* ns */
#define LOOKS      200

static struct {
	uint64_t tls;       /* whose; 0: free */
	uint64_t low, high; /* of the stack that the handler runs on */
} handlers[THREADS] EP_IN_DATA;
static bool waited EP_IN_DATA; /* for the drain to rest, once */

/* ---- the drain ---- */

/* Its stack is anonymous memory as well. A program that lives on faults is not kept waiting but
 * once. */
static void let_drain_rest(void)
{
	for (int i = 0; i < LOOKS && !ep_sched_rests() && ep_sched_wake(); i++) {
		if (waited)
			break;
		ep_nap(LOOK);
	}
	waited = true;
}

/* ---- handlers ---- */

/* That of `tls`, or, for 0, a free one, which is claimed. */
static unsigned find(uint64_t tls, uint64_t claim)
{
	for (unsigned i = 0; i < THREADS; i++) {
		uint64_t expected = tls;

		if (__atomic_load_n(&handlers[i].tls, __ATOMIC_RELAXED) == tls &&
		    (!claim ||
		     __atomic_compare_exchange_n(&handlers[i].tls, &expected, claim, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)))
			return i;
	}
	return THREADS;
}

static void place(unsigned index, const ucontext_t *context)
{
	uint64_t high = (uint64_t)context;
	uint64_t alternate = (uint64_t)context->uc_stack.ss_sp;
	uint64_t size = context->uc_stack.ss_size;

	handlers[index].high = high;
	handlers[index].low = high - STACK_MOST;
	if (high - alternate < size)
		handlers[index].low = alternate;
}

static bool is_inside(unsigned index, uint64_t sp)
{
	return sp >= handlers[index].low && sp < handlers[index].high;
}

/* Records, or would but for a pause; not in the midst of its start. */
static bool records(const struct ep_tls *tls)
{
	return ep_truth.arena && !ep_settings.counting && tls->thread && tls->cursor &&
	       (tls->gate == &ep_arena->gate || tls->gate == &tls->thread->gate);
}

static void begin(struct ep_tls *tls, const ucontext_t *context)
{
	unsigned index;

	if (tls->gate == &ep_faults_gate) {
		index = find((uint64_t)tls, 0);
		if (index < THREADS && !is_inside(index, (uint64_t)context))
			place(index, context);
		ep_ring_pause_here();
		return;
	}
	if (!records(tls) || (index = find(0, (uint64_t)tls)) == THREADS)
		return;
	place(index, context);
	__atomic_fetch_add(&ep_truth.fault_handlers, 1, __ATOMIC_SEQ_CST);
	ep_ring_pause_here();
	*(const uint32_t *volatile *)&tls->gate = &ep_faults_gate;
	let_drain_rest();
}

void ep_faults_begin(const ucontext_t *context)
{
	uint64_t at = (uint64_t)context->uc_mcontext.gregs[REG_RIP];

	if (ep_overwritten())
		return;
	/* Hooks touch nothing but their thread's memory. */
	if (ep_hooks_contain(at))
		ep_integrity_end(EP_OFF_OVERWRITTEN);
	else if (ep_intact(&ep_tls))
		begin(&ep_tls, context);
}

bool ep_faults_leave(struct ep_tls *tls)
{
	unsigned index;

	if (tls->gate != &ep_faults_gate)
		return false;
	index = find((uint64_t)tls, 0);
	if (index == THREADS)
		return true;
	__atomic_store_n(&handlers[index].tls, 0, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&ep_truth.fault_handlers, 1, __ATOMIC_SEQ_CST);
	if (ep_sched_rests())
		ep_sched_wake();
	return true;
}

bool ep_faults_over(const struct ep_tls *tls, uint64_t sp)
{
	unsigned index = find((uint64_t)tls, 0);

	return index == THREADS || !is_inside(index, sp);
}

void ep_faults_reset(void)
{
	for (unsigned i = 0; i < THREADS; i++)
		handlers[i].tls = 0;
	ep_truth.fault_handlers = 0;
}

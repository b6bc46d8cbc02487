/* SPDX-License-Identifier: BSD-2-Clause */
/* hook.c: what hooks leave to C, once in a block or less often; and the program's own words, which
 * begin a history as a call does. */
#include "runtime/api/hook.h"

#include "runtime/arena/arena.h"
#include "runtime/budget/budget.h"
#include "runtime/counting/counter.h"
#include "runtime/facts/clock.h"
#include "runtime/facts/loadmap.h"
#include "runtime/kernel/sched.h"
#include "runtime/lib/jail.h"
#include "runtime/record/faults.h"
#include "runtime/record/intact.h"
#include "runtime/record/ring.h"
#include "runtime/record/shortcalls.h"
#include "runtime/record/stacks.h"
#include "runtime/record/thread.h"
#include "runtime/settings/settings.h"
#include "runtime/start.h"
#include "runtime/switching/everything.h"
#include "runtime/x86_64/tsc.h"

/* What is due once a block: cheap unless something has happened. */
static void housekeeping(struct ep_tls *tls, uint64_t blocks)
{
	uint64_t tsc = ep_tsc();

	if (ep_jailed())
		return;
	ep_start_refill();
	ep_clock_refresh(tsc);
	ep_budget_block(tls, tsc);
	ep_sched_look(tsc, EP_SCHED_BLOCK);
	ep_loadmap_refresh();
	ep_thread_settle();
	/* The creator often names a thread after its first events. */
	if ((blocks & (blocks - 1)) == 0 || blocks % 64 == 0)
		ep_thread_rename(NULL);
}

/* The first event of a thread, or the first that no pause keeps out; or a forked child at its next
 * block. */
static bool begin(struct ep_tls *tls)
{
	if (!ep_start() || !ep_arena_intact())
		return false;
	if (!tls->gate || (!tls->cursor && !*tls->gate)) {
		ep_start_refill();
		ep_thread_start();
		/* A ring takes a while to make: far enough from the start's anchors for a rate that
		 * is right to 100 ppm. */
		ep_clock_refresh(ep_tsc());
		if (tls->cursor)
			ep_sched_look(ep_tsc(), EP_SCHED_RING);
	}
	return tls->gate != NULL;
}

/* The gate was open when the hook looked, or this is the first event. */
void ep_hook_slow(uint64_t word, uint64_t sp, uint64_t place)
{
	struct ep_tls *tls = &ep_tls;
	bool boundary;

	if (!ep_intact(tls))
		return;
	if (ep_thread_lost(tls))
		ep_thread_lose();
	boundary = tls->cursor % EP_BLOCK_SIZE == 0;
	if ((!tls->gate || !tls->cursor ||
	     ((boundary || ep_ring_is_to_look() || tls->gate == &ep_faults_gate ||
	       (tls->thread && ep_stack_is_outside(tls, sp))) &&
	      ep_arena_forked())) &&
	    !begin(tls))
		return;
	if (ep_ring_is_to_look())
		ep_ring_start_here(tls);
	if (ep_ring_gate(tls) & EP_GATE_FLIP) {
		ep_everything_visit(place, word & EP_ADDRESS_MASK);
		ep_budget_visit();
		return;
	}
	if (ep_settings.counting) {
		ep_counting_hook(tls, word);
		return;
	}
	if (tls->gate == &ep_faults_gate && ep_faults_over(tls, sp))
		ep_thread_gate();
	if (ep_ring_gate(tls))
		return;
	if ((word & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT || word >> EP_STAMP_SHIFT) {
		ep_arena_stop(EP_OFF_ADDRESS);
		return;
	}
	/* Whoever borrowed the thread's memory before its first event is not its owner any more. */
	if ((boundary || ep_stack_is_outside(tls, sp)) && !ep_jailed())
		ep_thread_settle();
	if (!ep_stack_is_owned(tls, sp, boundary))
		return;
	if (boundary && tls->thread->blocks)
		housekeeping(tls, tls->thread->blocks);
	/* Paused when its ring was to be made, and not any more. */
	if (!tls->cursor)
		return;
	if (!ep_settings.min_duration) {
		ep_ring_hook(tls, word);
		return;
	}
	ep_shortcalls_record(tls, word, sp, ep_ring_resume(tls));
	ep_ring_stop_if_shut(tls);
}

/* ---- what the program says ---- */

bool ep_hook_ready(void)
{
	struct ep_tls *tls = &ep_tls;

	if (!ep_intact(tls))
		return false;
	if ((!tls->gate || !tls->cursor || ep_arena_forked()) && !begin(tls))
		return false;
	return tls->cursor && !ep_ring_gate(tls);
}

void ep_hook_say(const uint64_t *words, unsigned count)
{
	/* A thread may do nothing else but say something. */
	if (ep_tls.cursor % EP_BLOCK_SIZE == 0 && ep_tls.thread->blocks)
		housekeeping(&ep_tls, ep_tls.thread->blocks);
	ep_ring_say(words, count);
}

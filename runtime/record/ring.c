/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring.c: everything rare about recording. Invariants: only the owner writes its ring and its TLS;
 * a block's check word is right only while its header and its cleared data are; a signal handler
 * may run, and record, between any two instructions here, and whoever finds the cursor moved gives
 * way to it.
 */
#include "runtime/record/ring.h"

#include <stdbool.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/pause.h"
#include "runtime/kernel/sched.h"
#include "runtime/lib/jail.h"
#include "runtime/record/asks.h"
#include "runtime/record/hold.h"
#include "runtime/record/intact.h"
#include "runtime/record/rings.h"
#include "runtime/record/stacks.h"
#include "runtime/record/timestamp_rate.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/local.h"
#include "runtime/x86_64/tsc.h"

static struct ep_block *block_of(uint64_t cursor)
{
	return (struct ep_block *)(cursor & -(uint64_t)EP_BLOCK_SIZE);
}

/* The block being written; cursor at a page start means that the one before it is full. `last` is
 * what the ring says. NULL: none was entered yet. */
static struct ep_block *present_block(const struct ep_tls *tls, uint64_t cursor,
				      struct ep_block *last)
{
	struct ep_block *block = block_of(cursor - 1);

	if (!tls->thread->blocks && cursor == (uint64_t)last)
		return NULL;
	/* An untimed hook was interrupted by a handler in which the ring changed, and has put its
	 * cursor back. */
	return ep_rings_contain(tls->thread, block) ? block : last;
}

/* Clears the data; false when a signal handler has moved the cursor. */
static bool clear_block(const struct ep_tls *tls, uint64_t cursor, struct ep_block *block)
{
	const volatile uint64_t *now = &tls->cursor;
	struct ep_vector kept;
	bool done = true;

	ep_vector_keep(&kept);
	/* A handler may enter this very block: look every 64 bytes. */
	for (unsigned i = 0; i < EP_BLOCK_RECORDS; i += 8) {
		if (*now != cursor) {
			done = false;
			break;
		}
		ep_clear_32(&block->records[i]);
		if (i + 4 < EP_BLOCK_RECORDS)
			ep_clear_32(&block->records[i + 4]);
	}
	ep_vector_restore(&kept);
	return done;
}

/*
 * The number of the block that follows the cursor's. Taken from the block before, not from a
 * counter: a signal handler that enters the same block first computes the same number, so none is
 * skipped and none given twice.
 */
static uint64_t next_sequence(const struct ep_block *now)
{
	return now ? now->sequence + 1 : 1;
}

/* Two processors' counters may differ by a little. */
static uint64_t later(uint64_t tsc)
{
	uint64_t now = ep_tsc();

	return now > tsc ? now : tsc;
}

#define GROWING 1000 /* TSC cycles, some of those that fresh memory takes */

/*
 * Enters the next block at time `tsc`, which was read after `cursor`. False: a signal handler that
 * ran since has moved the cursor, or somebody who copies the ring had to be waited for; look again.
 * Until the check word is written, last, the block does not count.
 */
static bool enter_block(struct ep_tls *tls, uint64_t cursor, uint64_t tsc, uint8_t flags)
{
	struct ep_block *last, *now, *block;
	uint64_t blocks = *(volatile uint64_t *)&tls->thread->blocks, sequence, check, since;

	bool asked = ep_asks_now();

	if (ep_hold_wait())
		return false;
	if (tls->thread->flags & EP_THREAD_ASKED && (!ep_asks_caller() || ep_asks_foreign()))
		__atomic_fetch_and(&tls->thread->flags, ~EP_THREAD_ASKED, __ATOMIC_RELAXED);
	last = ep_rings_last(tls->thread);
	if (!last) /* lost by a rescue, just now */
		return false;
	now = present_block(tls, cursor, last);
	/* The time that growing takes is no block's, as a block's time tells the rate of its
	 * records. It is no earlier call's either: so the thread counts as having been away. */
	since = now && ep_rings_grow(tls->thread, now) ? later(tsc) : tsc;
	asked |= since - tsc > GROWING && tls->thread->flags & EP_THREAD_ASKED;
	block = now ? ep_rings_next(now) : (struct ep_block *)cursor;
	sequence = next_sequence(now);
	check = block->check;
	/* Only a check word read before a handler entered this very block may be wiped: so look at
	 * the cursor between reading and wiping it. */
	__asm__ volatile("" : : : "memory");
	if (*(volatile uint64_t *)&tls->cursor != cursor)
		return false;
	if (check) {
		ep_rings_wipe(tls->thread, block);
		if (!ep_cmpxchg_local(&block->check, check, 0))
			return false;
	}
	if (!clear_block(tls, cursor, block))
		return false;
	unsigned every = ep_timestamp_rate_next(tls, tsc);
	block->sequence = sequence;
	if (!ep_cmpxchg_local(&tls->cursor, cursor, (uint64_t)&block->records[0]))
		return false;
	tls->last_tsc = since;
	if (!ep_settings.min_duration)
		tls->quiet = 0;
	/* Before it is the last one: who copies the ring goes back from there. */
	ep_rings_entered(tls->thread, block, now);
	/* A handler that came since is further. */
	ep_cmpxchg_local(&tls->thread->blocks, blocks, sequence);
	ep_cmpxchg_local(&tls->thread->ring_offset, (uint64_t)last - (uint64_t)ep_arena,
			 (uint64_t)block - (uint64_t)ep_arena);
	block->tsc = since;
	block->owner = tls->thread->serial;
	block->every = (uint8_t)every;
	block->flags = flags | (sequence == 1 ? EP_BLOCK_FIRST : 0) |
		       (asked && sequence > 1 && !flags ? EP_BLOCK_ASKED : 0) |
		       (ep_settings.min_duration ? EP_BLOCK_SHORT_CALLS_DROPPED : 0);
	block->reserved = 0;
	uint64_t offset = (uint64_t)block - (uint64_t)ep_arena;
	check = ep_block_check(block, offset, epitaph_root.identity);
	__atomic_store_n(&block->check, check, __ATOMIC_RELEASE);
	return true;
}

struct ep_block *ep_ring_block(const struct ep_tls *tls)
{
	struct ep_block *last = tls->thread && tls->cursor ? ep_rings_last(tls->thread) : NULL;

	return last ? present_block(tls, tls->cursor, last) : NULL;
}

const struct ep_block *ep_ring_previous_block(const struct ep_tls *tls,
					      const struct ep_block *block)
{
	const struct ep_block *before = ep_rings_before(block);

	return before && ep_rings_contain(tls->thread, before) && before->check &&
			       before->sequence + 1 == block->sequence
		       ? before
		       : NULL;
}

/* How many a gap needs: two tell that the kernel asked for the time behind it. */
static unsigned escapes_of(uint64_t gap)
{
	return gap > EP_GAP_CYCLES ? 1 + ep_asks_now() : 0;
}

/* Whether so many words go into another block than the cursor's. */
static bool needs_block(uint64_t cursor, uint64_t gap, uint8_t flags, unsigned words)
{
	uint64_t at = cursor % EP_BLOCK_SIZE;

	return at == 0 || flags || gap >= EP_LONG_GAP_CYCLES || at + words * 8 > EP_BLOCK_SIZE;
}

static uint64_t stamp(uint64_t tsc)
{
	uint64_t bits = tsc >> EP_TICK_SHIFT & 0xffff;

	return (bits ? bits : 1) << EP_STAMP_SHIFT;
}

static bool is_head(uint64_t word)
{
	return word % EP_ESCAPE_TYPES == EP_ESCAPE_MARK;
}

/* TSC cycles, some 20 ms: a thread that waits often looks this often; and some seconds: so long a
 * creator may still be about to name it. */
#define NAME_BITS  26
#define YOUNG_BITS 33

static bool may_be_named_anew(const struct ep_tls *tls, uint64_t tsc)
{
	return (tsc ^ tls->last_tsc) >> NAME_BITS ||
	       (tsc - tls->thread->start_tsc) >> YOUNG_BITS == 0;
}

/* Appends a record or marks, whose first word gets the stamp, and before it the escapes that a
 * large gap needs. */
static bool append(struct ep_tls *tls, uint64_t cursor, uint64_t tsc, const uint64_t *words,
		   unsigned count, unsigned escapes)
{
	uint64_t *slot = (uint64_t *)cursor;

	if (!ep_cmpxchg_local(&tls->cursor, cursor, cursor + (count + escapes) * 8))
		return false;
	if (escapes) {
		for (unsigned i = 0; i < escapes; i++)
			*slot++ = ep_escape_make(EP_ESCAPE_TIME,
						 tsc >> (EP_TICK_SHIFT + 16) & 0x3ffffff);
		ep_timestamp_rate_gap(tls, cursor);
		if (may_be_named_anew(tls, tsc))
			ep_thread_rename(NULL);
		/* It may have waited. */
		if (!ep_jailed())
			ep_sched_look(tsc, EP_SCHED_GAP);
	}
	*slot = words[0] | stamp(tsc);
	for (unsigned i = 1; i < count; i++)
		slot[i] = words[i] | (is_head(words[i]) ? stamp(tsc) : 0);
	tls->last_tsc = tsc;
	ep_asks_answer();
	return true;
}

static void record(struct ep_tls *tls, const uint64_t *words, unsigned count, uint8_t flags)
{
	while (!ep_thread_lost(tls)) {
		uint64_t cursor = *(volatile uint64_t *)&tls->cursor;
		uint64_t last = tls->last_tsc, tsc = later(last);
		unsigned escapes = escapes_of(tsc - last);

		if (needs_block(cursor, tsc - last, flags, count + escapes)) {
			if (tsc - last >= EP_LONG_GAP_CYCLES)
				flags |= EP_BLOCK_LONG_GAP;
			if (enter_block(tls, cursor, tsc, flags))
				flags = 0;
		} else if (append(tls, cursor, tsc, words, count, escapes)) {
			return;
		}
	}
}

void ep_ring_record(struct ep_tls *tls, uint64_t word, uint8_t flags)
{
	record(tls, &word, 1, flags);
}

/* The owner's half of a pause: first the boundary mask, so that a handler in between finds a
 * boundary, never an untimed record. */
static void stop_here(struct ep_tls *tls)
{
	*(volatile uint32_t *)&tls->boundary_mask = 0;
	ep_asks_set_timing(tls, 0);
}

void ep_ring_stop_if_shut(struct ep_tls *tls)
{
	if (*(volatile const uint32_t *)tls->gate)
		stop_here(tls);
}

void ep_ring_pause_here(void)
{
	if (ep_tls.gate)
		stop_here(&ep_tls);
}

/*
 * A mask that the cursor has nothing of, and that no block's end has either: the next hook takes
 * the slow way, and no earlier or later one misses it.
 */
void ep_ring_look_soon(void)
{
	struct ep_tls *tls = &ep_tls;
	uint64_t cursor = tls->cursor;
	uint32_t mask = EP_BOUNDARY_MASK & ~(uint32_t)cursor;

	if (!tls->gate || !mask || tls->boundary_mask != EP_BOUNDARY_MASK || !ep_intact(tls))
		return;
	*(volatile uint32_t *)&tls->boundary_mask = mask;
	ep_timestamp_rate_gap(tls, cursor);
	ep_asks_set_timing(tls, 0);
}

void ep_ring_start_here(struct ep_tls *tls)
{
	ep_asks_set_timing(tls, ep_timestamp_rate_mask(tls));
	*(volatile uint32_t *)&tls->boundary_mask = EP_BOUNDARY_MASK;
	/* The gate may have been shut between our look and the masks. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ep_ring_stop_if_shut(tls);
}

void ep_ring_resume_here(void)
{
	if (!ep_settings.min_duration && !*(volatile const uint32_t *)ep_tls.gate)
		ep_ring_start_here(&ep_tls);
}

/* Recording goes on after a pause: the calls in between are missing, so that what follows gets a
 * block of its own that says so. */
uint8_t ep_ring_resume(struct ep_tls *tls)
{
	bool stopped =
		!tls->boundary_mask && !ep_settings.min_duration && tls->gate != &ep_faults_gate;
	uint64_t pauses = ep_pause_count();
	/* A thread that has just begun was not running either. */
	bool missing = (stopped && tls->thread->blocks) || tls->pauses != pauses;

	tls->pauses = pauses;
	if (stopped)
		ep_ring_start_here(tls);
	return missing ? EP_BLOCK_RESUMED : 0;
}

bool ep_ring_recording(void)
{
	const struct ep_tls *tls = &ep_tls;

	/* A forked child's ring is its own from its next hook on. */
	return ep_intact(tls) && tls->gate && tls->cursor && !ep_ring_gate(tls) &&
	       !ep_arena_forked() && !ep_stack_is_shared_by_caller(tls);
}

static void add_marks(struct ep_tls *tls, const uint64_t *words, unsigned count)
{
	record(tls, words, count, ep_ring_resume(tls));
	ep_ring_stop_if_shut(tls);
}

void ep_ring_mark(const uint64_t *words, unsigned count)
{
	if (ep_ring_recording())
		add_marks(&ep_tls, words, count);
}

/* ---- what the program says ---- */

uint64_t *ep_ring_reserve(unsigned count, uint64_t *stamped)
{
	struct ep_tls *tls = &ep_tls;
	uint64_t cursor = tls->cursor, tsc;

	/* Paused, not begun, at a block's start: all that is rare. */
	if (ep_overwritten() || !tls->boundary_mask || tls->gate != &ep_arena->gate || *tls->gate ||
	    cursor % EP_BLOCK_SIZE == 0 || cursor % EP_BLOCK_SIZE + count * 8 > EP_BLOCK_SIZE ||
	    tls->pauses != ep_pause_count() || ep_arena_forked())
		return NULL;
	tsc = ep_tsc();
	if (tsc - tls->last_tsc > EP_GAP_CYCLES ||
	    !ep_cmpxchg_local(&tls->cursor, cursor, cursor + count * 8))
		return NULL;
	tls->last_tsc = tsc;
	*stamped = stamp(tsc);
	return (uint64_t *)cursor;
}

void ep_ring_say(const uint64_t *words, unsigned count)
{
	struct ep_tls *tls = &ep_tls;
	uint64_t stamped, *slot;

	slot = ep_ring_reserve(count, &stamped);
	if (!slot) {
		add_marks(tls, words, count);
		return;
	}
	for (unsigned i = 0; i < count; i++)
		slot[i] = words[i] | (is_head(words[i]) ? stamped : 0);
}

void ep_ring_hook(struct ep_tls *tls, uint64_t word)
{
	record(tls, &word, 1, ep_ring_resume(tls));
	ep_ring_stop_if_shut(tls);
}

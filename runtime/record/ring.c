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
#include "runtime/facts/clock.h"
#include "runtime/record/counting.h"
#include "runtime/fatal/faults.h"
#include "runtime/record/hold.h"
#include "runtime/record/integrity.h"
#include "runtime/facts/jail.h"
#include "runtime/facts/loadmap.h"
#include "runtime/record/timestamp_rate.h"
#include "runtime/arena/pause.h"
#include "runtime/kernel/sched.h"
#include "runtime/settings/settings.h"
#include "runtime/record/shortcalls.h"
#include "runtime/start.h"
#include "runtime/record/thread.h"
#include "runtime/x86_64/local.h"
#include "runtime/x86_64/tsc.h"

#define BOUNDARY_MASK ((EP_BLOCK_SIZE - 1) & ~7u)
#define CLEAR_WORDS   8 /* 64 bytes between two looks at the cursor */

static struct ep_block *block_of(uint64_t cursor)
{
	return (struct ep_block *)(cursor & -(uint64_t)EP_BLOCK_SIZE);
}

/* The block after the one being written; cursor at a page start means that the one before it is
 * full, and may be one past the ring. */
static struct ep_block *next_block(const struct ep_tls *tls, uint64_t cursor)
{
	uint64_t offset = *(volatile const uint64_t *)&tls->thread->ring_offset;
	uint64_t ring = (uint64_t)ep_arena + offset;
	uint64_t next = (cursor + EP_BLOCK_SIZE - 1) & -(uint64_t)EP_BLOCK_SIZE;

	if (!offset) /* lost by a rescue, just now */
		return NULL;
	/* Below it: an untimed hook was interrupted by a handler in which the ring changed, and has
	 * put its cursor back. */
	if (next < ring || next >= ring + tls->thread->ring_size)
		next = ring;
	return (struct ep_block *)next;
}

/* Clears the data; false when a signal handler has moved the cursor. */
static bool clear_block(const struct ep_tls *tls, uint64_t cursor, struct ep_block *block)
{
	const volatile uint64_t *now = &tls->cursor;

	/* A handler may enter this very block: look every 64 bytes. */
	for (unsigned i = 0; i < EP_BLOCK_RECORDS; i += 8) {
		if (*now != cursor)
			return false;
		ep_clear_32(&block->records[i]);
		if (i + 4 < EP_BLOCK_RECORDS)
			ep_clear_32(&block->records[i + 4]);
	}
	return true;
}

/*
 * The number of the block that follows the cursor's. Taken from the block before, not from a
 * counter: a signal handler that enters the same block first computes the same number, so none is
 * skipped and none given twice.
 */
static uint64_t next_sequence(const struct ep_tls *tls, uint64_t cursor)
{
	return tls->thread->blocks ? block_of(cursor - 1)->sequence + 1 : 1;
}

/*
 * Enters the next block at time `tsc`, which was read after `cursor`. False: a signal handler that
 * ran since has moved the cursor, or somebody who copies the ring had to be waited for; look again.
 * Until the check word is written, last, the block does not count.
 */
static bool enter_block(struct ep_tls *tls, uint64_t cursor, uint64_t tsc, uint8_t flags)
{
	struct ep_block *block;
	uint64_t sequence, check;

	if (ep_hold_wait())
		return false;
	block = next_block(tls, cursor);
	if (!block)
		return false;
	sequence = next_sequence(tls, cursor);
	check = block->check;
	/* Only a check word read before a handler entered this very block may be wiped: so look at
	 * the cursor between reading and wiping it. */
	__asm__ volatile("" : : : "memory");
	if (*(volatile uint64_t *)&tls->cursor != cursor)
		return false;
	if (check && !ep_cmpxchg_local(&block->check, check, 0))
		return false;
	if (!clear_block(tls, cursor, block))
		return false;
	unsigned every = ep_timestamp_rate_next(tls, tsc);
	block->sequence = sequence;
	if (!ep_cmpxchg_local(&tls->cursor, cursor, (uint64_t)&block->records[0]))
		return false;
	tls->last_tsc = tsc;
	tls->thread->blocks = sequence;
	block->tsc = tsc;
	block->owner = tls->thread->serial;
	block->every = (uint8_t)every;
	block->flags = flags | (sequence == 1 ? EP_BLOCK_FIRST : 0) |
		       (ep_shortcalls_on() ? EP_BLOCK_SHORT_CALLS_DROPPED : 0);
	block->reserved = 0;
	uint64_t offset = (uint64_t)block - (uint64_t)ep_arena;
	check = ep_block_check(block, offset, epitaph_root.identity);
	__atomic_store_n(&block->check, check, __ATOMIC_RELEASE);
	return true;
}

void ep_ring_enter(void)
{
	struct ep_tls *tls = &ep_tls;

	while (!enter_block(tls, *(volatile uint64_t *)&tls->cursor, ep_tsc(), 0))
		;
}

/* Whether `count` words go into another block than the cursor's. */
static bool needs_block(uint64_t cursor, uint64_t gap, uint8_t flags, unsigned count)
{
	uint64_t at = cursor % EP_BLOCK_SIZE;
	uint64_t escape = gap > EP_GAP_CYCLES;

	return at == 0 || flags || gap >= EP_LONG_GAP_CYCLES ||
	       at + (count + escape) * 8 > EP_BLOCK_SIZE;
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

/* Appends a record or marks, whose first word gets the stamp, and before it the escape that a large
 * gap needs. */
static bool append(struct ep_tls *tls, uint64_t cursor, uint64_t tsc, const uint64_t *words,
		   unsigned count)
{
	bool escape = tsc - tls->last_tsc > EP_GAP_CYCLES;
	uint64_t *slot = (uint64_t *)cursor;

	if (!ep_cmpxchg_local(&tls->cursor, cursor, cursor + (count + escape) * 8))
		return false;
	if (escape) {
		*slot++ = ep_escape_make(EP_ESCAPE_TIME, tsc >> (EP_TICK_SHIFT + 16) & 0x3ffffff);
		ep_timestamp_rate_gap(tls, cursor);
		/* Rare, so there is time to look for a new name. */
		ep_thread_rename(NULL);
	}
	*slot = words[0] | stamp(tsc);
	for (unsigned i = 1; i < count; i++)
		slot[i] = words[i] | (is_head(words[i]) ? stamp(tsc) : 0);
	tls->last_tsc = tsc;
	return true;
}

static void record(struct ep_tls *tls, const uint64_t *words, unsigned count, uint8_t flags)
{
	while (!ep_thread_lost(tls)) {
		uint64_t cursor = *(volatile uint64_t *)&tls->cursor;
		uint64_t last = tls->last_tsc, tsc = ep_tsc();

		/* Two processors' counters may differ by a little. */
		if (tsc < last)
			tsc = last;
		if (needs_block(cursor, tsc - last, flags, count)) {
			if (tsc - last >= EP_LONG_GAP_CYCLES)
				flags |= EP_BLOCK_LONG_GAP;
			if (enter_block(tls, cursor, tsc, flags))
				flags = 0;
		} else if (append(tls, cursor, tsc, words, count)) {
			return;
		}
	}
}

void ep_ring_record(struct ep_tls *tls, uint64_t word, uint8_t flags)
{
	record(tls, &word, 1, flags);
}

/* What is due once a block: cheap unless something has happened. */
static void housekeeping(uint64_t blocks)
{
	uint64_t tsc = ep_tsc();

	if (ep_jailed())
		return;
	ep_start_refill();
	ep_clock_refresh(tsc);
	ep_sched_look(tsc);
	ep_loadmap_refresh();
	ep_thread_settle();
	/* The creator often names a thread after its first events. */
	if ((blocks & (blocks - 1)) == 0 || blocks % 64 == 0)
		ep_thread_rename(NULL);
}

/* The owner's half of a pause: first the boundary mask, so that a handler in between finds a
 * boundary, never an untimed record. */
static void stop_here(struct ep_tls *tls)
{
	*(volatile uint32_t *)&tls->boundary_mask = 0;
	*(volatile uint32_t *)&tls->timing_mask = 0;
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
	uint32_t mask = BOUNDARY_MASK & ~(uint32_t)cursor;

	if (!tls->gate || !mask || tls->boundary_mask != BOUNDARY_MASK || !ep_intact(tls))
		return;
	*(volatile uint32_t *)&tls->boundary_mask = mask;
	ep_timestamp_rate_gap(tls, cursor);
	*(volatile uint32_t *)&tls->timing_mask = 0;
}

bool ep_ring_is_to_look(void)
{
	uint32_t mask = ep_tls.boundary_mask;

	return mask && mask != BOUNDARY_MASK;
}

static void start_here(struct ep_tls *tls)
{
	*(volatile uint32_t *)&tls->timing_mask = ep_timestamp_rate_mask(tls);
	*(volatile uint32_t *)&tls->boundary_mask = BOUNDARY_MASK;
	/* The gate may have been shut between our look and the masks. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (*(volatile const uint32_t *)tls->gate)
		stop_here(tls);
}

void ep_ring_resume_here(void)
{
	if (!ep_shortcalls_on() && !*(volatile const uint32_t *)ep_tls.gate)
		start_here(&ep_tls);
}

/* What keeps the thread from recording. In a handler of a fault its gate is open, whatever the
 * thread's and the process's say. */
static uint32_t gate_of(const struct ep_tls *tls)
{
	if (tls->gate != &ep_faults_gate)
		return *(volatile const uint32_t *)tls->gate;
	return *(volatile const uint32_t *)&tls->thread->gate |
	       *(volatile const uint32_t *)&ep_arena->gate;
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
			ep_sched_look(ep_tsc());
	}
	return tls->gate != NULL;
}

/* Recording goes on after a pause: the calls in between are missing, so that what follows gets a
 * block of its own that says so. */
static uint8_t resume(struct ep_tls *tls)
{
	bool stopped = !tls->boundary_mask && !ep_shortcalls_on() && tls->gate != &ep_faults_gate;
	uint64_t pauses = ep_pause_count();
	/* A thread that has just begun was not running either. */
	bool missing = (stopped && tls->thread->blocks) || tls->pauses != pauses;

	tls->pauses = pauses;
	if (stopped)
		start_here(tls);
	return missing ? EP_BLOCK_RESUMED : 0;
}

bool ep_ring_recording(void)
{
	const struct ep_tls *tls = &ep_tls;

	/* A forked child's ring is its own from its next hook on. */
	return ep_intact(tls) && tls->gate && tls->cursor && !gate_of(tls) && !ep_arena_forked();
}

static void add_marks(struct ep_tls *tls, const uint64_t *words, unsigned count)
{
	record(tls, words, count, resume(tls));
	if (*(volatile const uint32_t *)tls->gate)
		stop_here(tls);
}

void ep_ring_mark(const uint64_t *words, unsigned count)
{
	if (ep_ring_recording())
		add_marks(&ep_tls, words, count);
}

/* ---- what the program says ---- */

bool ep_ring_ready(void)
{
	struct ep_tls *tls = &ep_tls;

	if (!ep_intact(tls))
		return false;
	if ((!tls->gate || !tls->cursor || ep_arena_forked()) && !begin(tls))
		return false;
	return !gate_of(tls);
}

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

	/* A thread may do nothing else but say something. */
	if (tls->cursor % EP_BLOCK_SIZE == 0 && tls->thread->blocks)
		housekeeping(tls->thread->blocks);
	slot = ep_ring_reserve(count, &stamped);
	if (!slot) {
		add_marks(tls, words, count);
		return;
	}
	for (unsigned i = 0; i < count; i++)
		slot[i] = words[i] | (is_head(words[i]) ? stamped : 0);
}

/* The gate was open when the hook looked, or this is the first event. */
void ep_hook_slow(uint64_t word, uint64_t sp)
{
	struct ep_tls *tls = &ep_tls;
	bool boundary;

	if (!ep_intact(tls))
		return;
	if (ep_thread_lost(tls))
		ep_thread_lose();
	boundary = tls->cursor % EP_BLOCK_SIZE == 0;
	if ((!tls->gate || !tls->cursor ||
	     ((boundary || ep_ring_is_to_look() || tls->gate == &ep_faults_gate) &&
	      ep_arena_forked())) &&
	    !begin(tls))
		return;
	if (ep_ring_is_to_look())
		start_here(tls);
	if (ep_settings.counting) {
		ep_counting_hook(tls, word);
		return;
	}
	if (tls->gate == &ep_faults_gate)
		ep_faults_look(tls, sp);
	if (gate_of(tls))
		return;
	if ((word & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT || word >> EP_STAMP_SHIFT) {
		ep_arena_stop(EP_OFF_ADDRESS);
		return;
	}
	if (boundary && tls->thread->blocks)
		housekeeping(tls->thread->blocks);
	uint8_t flags = resume(tls);
	if (ep_shortcalls_on())
		ep_shortcalls_record(tls, word, sp, flags);
	else
		ep_ring_record(tls, word, flags);
	if (*(volatile const uint32_t *)tls->gate)
		stop_here(tls);
}

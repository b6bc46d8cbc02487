/* SPDX-License-Identifier: BSD-2-Clause */
/* looks.c: a block is cleared before it is entered and then filled from its beginning, so its first
 * word that is 0 is how far its thread is. */
#include "runtime/record/looks.h"

#include <stdbool.h>

#include "runtime/arena/arena.h"
#include "runtime/facts/clock.h"
#include "runtime/kernel/sched.h"
#include "runtime/record/rings.h"
#include "runtime/record/table.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/tsc.h"

#define PERIOD_LEAST UINT64_C(4000000)   /* ns */
#define PERIOD_MOST  UINT64_C(100000000) /* while no thread moves … */
#define STILL        8    /* … for more than so many looks: each in turn twice as long */
#define SHARE        400  /* so many times as long passes until the next as one took */
#define AT_ONCE      64   /* threads … */
#define ENTRIES      1024 /* … of so many in the table, of which most may be dead */
#define SEEN         256
#define TRIES        4

static struct {
	struct ep_look_taken *slots;
	uint64_t count; /* of slots */
	uint64_t next;
	uint64_t period; /* ns */
	uint64_t still;  /* looks since a thread moved */
	uint64_t cycles; /* that all took */
	uint32_t thread; /* where the next look begins, in the table */
	/* Where a thread was last, by its number. */
	struct {
		uint64_t sequence;
		uint32_t serial, records;
	} seen[SEEN];
} looks;

static uint64_t ns_of(uint64_t cycles)
{
	return cycles * 1000000 / (ep_clock_cycles(1000000) | 1);
}

static uint64_t word(const struct ep_block *block, uint32_t at)
{
	return *(const volatile uint64_t *)&block->records[at];
}

/* The first that is 0 from `from` on, where none before is. */
static uint32_t count_records(const struct ep_block *block, uint32_t from)
{
	uint32_t end = EP_BLOCK_RECORDS;

	while (from < end) {
		uint32_t middle = from + (end - from) / 2;

		if (word(block, middle))
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

static void note(uint64_t tsc, uint64_t sequence, uint32_t serial, uint32_t records)
{
	struct ep_look_taken *slot = &looks.slots[looks.next++ % looks.count];
	struct ep_look_taken look = {tsc, sequence, serial, (uint16_t)records, 0};

	__atomic_store_n(&slot->check, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	slot->tsc = tsc;
	slot->sequence = sequence;
	slot->serial = serial;
	slot->records = (uint16_t)records;
	__atomic_store_n(&slot->check, ep_look_check(&look, epitaph_root.identity),
			 __ATOMIC_RELEASE);
}

enum outcome {
	STILL_THERE,  /* where the last look found it */
	NOT_WORTH_IT, /* its records all have times, or there are none */
	MISSED,       /* it went on meanwhile to another block, or we did not run */
	NOTED,
};

static enum outcome look_at(const struct ep_thread *thread)
{
	uint64_t tsc = ep_tsc(), sequence;
	uint32_t serial = thread->serial, last = 0, records;
	const struct ep_block *block = ep_rings_last(thread);

	if (!block || !__atomic_load_n(&block->check, __ATOMIC_ACQUIRE) || block->owner != serial ||
	    block->every <= 1)
		return NOT_WORTH_IT;
	sequence = *(const volatile uint64_t *)&block->sequence;
	if (looks.seen[serial % SEEN].serial == serial &&
	    looks.seen[serial % SEEN].sequence == sequence) {
		last = looks.seen[serial % SEEN].records;
		if (last == EP_BLOCK_RECORDS || !word(block, last))
			return STILL_THERE;
	}
	records = count_records(block, last);
	/* A hook that a signal handler interrupted leaves a 0 among records. */
	if ((records + 1 < EP_BLOCK_RECORDS && word(block, records + 1)) ||
	    *(const volatile uint64_t *)&block->sequence != sequence ||
	    ep_rings_last(thread) != block || ep_tsc() - tsc > EP_LOOK_SLACK)
		return MISSED;
	looks.seen[serial % SEEN].serial = serial;
	looks.seen[serial % SEEN].sequence = sequence;
	looks.seen[serial % SEEN].records = records;
	note(tsc, sequence, serial, records);
	return NOTED;
}

/* True: it goes on. */
static bool look_again(const struct ep_thread *thread)
{
	enum outcome outcome = MISSED;

	for (unsigned i = 0; i < TRIES && outcome == MISSED; i++)
		outcome = look_at(thread);
	return outcome == NOTED || outcome == MISSED;
}

static void take(void)
{
	uint32_t count, used = ep_thread_count(), looked = 0;
	const struct ep_thread *threads = ep_threads(&count);
	uint64_t begin = ep_tsc(), took, least;
	bool moved = false;

	for (uint32_t i = 0; i < used && i < ENTRIES && looked < AT_ONCE; i++) {
		const struct ep_thread *thread = &threads[looks.thread++ % used];

		if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) != EP_THREAD_LIVE)
			continue;
		looked++;
		moved |= look_again(thread);
	}
	took = ep_tsc() - begin;
	looks.cycles += took;
	least = ns_of(took) * SHARE;
	least = least > PERIOD_LEAST ? least : PERIOD_LEAST;
	looks.still = moved ? 0 : looks.still + 1;
	if (looks.still < STILL || looks.period < least)
		looks.period = least;
	else
		looks.period *= 2;
	if (looks.period > PERIOD_MOST)
		looks.period = PERIOD_MOST;
}

static uint64_t period(void)
{
	return looks.period;
}

static uint64_t cost(void)
{
	return ns_of(looks.cycles);
}

void ep_looks_begin(void)
{
	static const struct ep_sched_looks these = {period, take, cost};
	uint64_t size;

	__builtin_memset(&looks, 0, sizeof(looks));
	looks.slots = ep_arena_section(EP_SECTION_LOOKS, &size);
	looks.count = looks.slots ? size / sizeof(struct ep_look_taken) : 0;
	looks.period = PERIOD_LEAST;
	ep_sched_looks = looks.count ? &these : NULL;
}

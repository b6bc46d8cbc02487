/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timestamp_rate.c: the regulator of time stamps. It looks at the last block only, so it follows a
 * change of rate within a block or two, both ways.
 */
#include "runtime/record/timestamp_rate.h"

#include "runtime/arena/arena.h"
#include "runtime/record/asks.h"
#include "runtime/settings/settings.h"

#define EVERY_MAX         64u
#define FEW               8u
#define READ_COST_DEFAULT 40 /* cycles, until the clock has been calibrated */

static uint32_t clock_may; /* 0: what the setting says */
static bool gaps_untimed;
static uint64_t sampled; /* TSC: a block was fully timed to show what calls take (is_sample) */

static uint32_t mask_of(unsigned every)
{
	return (every - 1) * 8;
}

/* What the thread or the process asked for; 0 is auto. The process's is also written from outside:
 * a number that is none is taken for auto. */
static unsigned fixed_every(const struct ep_tls *tls)
{
	unsigned every = *(volatile const uint8_t *)&ep_arena->timestamp_every;

	if (tls->thread->timing)
		every = tls->thread->timing;
	return every <= EVERY_MAX && !(every & (every - 1)) ? every : 0;
}

unsigned ep_timestamp_rate_choose(uint64_t cycles, unsigned records, unsigned reads,
				  uint64_t read_cost, uint32_t budget)
{
	uint64_t clock = reads * read_cost;
	uint64_t work = cycles > clock ? cycles - clock : 0;
	/* Per million, to stay in integers; a block never takes 2^44 cycles without an escape that
	 * ends it. */
	uint64_t allowed = work / 1000000 * budget + work % 1000000 * budget / 1000000;
	unsigned every = 1;

	while (every < EVERY_MAX && records / every * read_cost > allowed)
		every *= 2;
	return every;
}

static uint64_t read_cost(void)
{
	static const struct ep_clock *clock;

	if (!clock)
		clock = ep_arena_section(EP_SECTION_CLOCK, NULL);
	return clock->read_cost ? clock->read_cost : READ_COST_DEFAULT;
}

/* Clock reads in the block that ends at the cursor. */
static unsigned reads_of(const struct ep_tls *tls, const struct ep_block *block)
{
	unsigned full = 0, until = EP_BLOCK_RECORDS;

	if (tls->gap_at / EP_BLOCK_SIZE == (uint64_t)block / EP_BLOCK_SIZE) {
		until = (unsigned)(tls->gap_at % EP_BLOCK_SIZE / 8);
		full = EP_BLOCK_RECORDS - until;
	}
	return until / block->every + full;
}

/* Of the clock's budget. */
#define SAMPLES_SHARE 4

static uint32_t budget(void)
{
	return clock_may ? clock_may : ep_settings.clock_budget;
}

/*
 * Where few records have a time a block is fully timed now and then, of any thread, so that a
 * reader knows how long it usually is from one record to the next (decoder/trace/transitions.h). By
 * time, and not by number, so that it never takes more than its share.
 */
static bool is_sample(uint64_t tsc)
{
	uint64_t last = __atomic_load_n(&sampled, __ATOMIC_RELAXED);
	uint64_t takes = EP_BLOCK_RECORDS * read_cost() * SAMPLES_SHARE;

	if (tsc <= last || !budget() || tsc - last < takes * 1000000 / budget())
		return false;
	return __atomic_compare_exchange_n(&sampled, &last, tsc, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

static unsigned choose_auto(const struct ep_tls *tls, uint64_t tsc)
{
	const struct ep_block *block =
		(const struct ep_block *)((tls->cursor - 1) & -(uint64_t)EP_BLOCK_SIZE);

	unsigned every;

	if (!tls->thread->blocks || tsc <= block->tsc || !block->every)
		return 1;
	every = ep_timestamp_rate_choose(tsc - block->tsc, EP_BLOCK_RECORDS, reads_of(tls, block),
					 read_cost(), budget() - budget() / SAMPLES_SHARE);
	return every >= FEW && is_sample(tsc) ? 1 : every;
}

unsigned ep_timestamp_rate_next(struct ep_tls *tls, uint64_t tsc)
{
	unsigned every = fixed_every(tls);

	if (!every)
		every = choose_auto(tls, tsc);
	if (tls->boundary_mask)
		ep_asks_set_timing(tls, mask_of(every));
	return every;
}

void ep_timestamp_rate_gap(struct ep_tls *tls, uint64_t cursor)
{
	if (fixed_every(tls) || !tls->timing_mask || gaps_untimed)
		return;
	tls->gap_at = cursor;
	ep_asks_set_timing(tls, 0);
}

void ep_timestamp_rate_allow(uint32_t share, bool gaps)
{
	clock_may = share;
	gaps_untimed = !gaps;
}

uint64_t ep_timestamp_rate_cost(const struct ep_tls *tls, const struct ep_block *block)
{
	return block->every ? reads_of(tls, block) * read_cost() : 0;
}

uint32_t ep_timestamp_rate_mask(const struct ep_tls *tls)
{
	unsigned every = fixed_every(tls);

	return every ? mask_of(every) : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_blocks.c: every page of the rings, taken for what its check word says it is. No table leads
 * here, so nothing but a page's own bytes can lose it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/trace/records.h"
#include "decoder/trace/trace_parts.h"

#define TSC_MAX (UINT64_C(1) << 62) /* 48 years at 3 GHz */

struct scan {
	struct ep_trace *trace;
	uint64_t *claims; /* identities that would make a check word hold: two a page, for its
			     lowest bit is not kept */
	uint64_t claim_count;
	uint64_t refused; /* check word holds, content does not */
};

/* ---- one page ---- */

static bool is_zero(const struct ep_block *block)
{
	const uint64_t *words = (const uint64_t *)(const void *)block;

	for (size_t i = 0; i < EP_BLOCK_SIZE / sizeof(*words); i++)
		if (words[i] != 0)
			return false;
	return true;
}

/* Inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the bits that are
 * right, starting with three. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

/* ep_block_check backwards: the identity for which it yields `x`. */
static uint64_t identity_for(uint64_t x, const struct ep_block *block, uint64_t offset)
{
	x ^= x >> 29 ^ x >> 58;
	x *= inverse(UINT64_C(0x9e3779b97f4a7c15));
	x ^= block->owner ^ (uint64_t)block->every << 32 ^ (uint64_t)block->flags << 40 ^
	     (uint64_t)block->reserved << 48;
	x ^= x >> 32;
	x = (x * inverse(UINT64_C(0xc4ceb9fe1a85ec53))) ^ block->sequence;
	x ^= x >> 32;
	x = (x * inverse(UINT64_C(0xff51afd7ed558ccd))) ^ block->tsc;
	return x ^ offset;
}

static void count_torn(struct scan *scan, const struct ep_block *block, uint64_t offset)
{
	struct ep_trace_damage *damage = &scan->trace->damage;

	if (block->check == 0 && (block->sequence || block->tsc)) {
		damage->blocks_entering++;
		return;
	}
	damage->blocks_torn++;
	damage->blocks_text += ep_trace_begins_as_text(scan->trace, block);
	if (!(block->check & 1))
		return;
	for (uint64_t low = 0; low < 2; low++)
		scan->claims[scan->claim_count++] = identity_for(block->check ^ low, block, offset);
}

static bool is_sound(const struct ep_block *block)
{
	return block->reserved == 0 && block->owner != 0 && block->sequence != 0 &&
	       block->tsc != 0 && block->tsc < TSC_MAX;
}

/* The only look that nearly all records get before they are decoded. */
static void count_words(struct ep_trace *trace, struct ep_trace_block *taken)
{
	const uint64_t *records = taken->block->records;
	uint32_t words = EP_BLOCK_RECORDS, holes = 0;
	bool text = false;

	while (words && records[words - 1] == 0)
		words--;
	taken->words = words;
	for (uint32_t i = 0; i < words; i++) {
		holes += records[i] == 0;
		text |= ep_trace_may_be_text(records[i]);
	}
	trace->damage.holes += holes;
	taken->may_have_text = text;
}

static void add_block(struct scan *scan, const struct ep_block *block)
{
	struct ep_trace *trace = scan->trace;
	struct ep_trace_block *taken;

	if (!is_sound(block)) {
		scan->refused++;
		trace->damage.blocks_torn++;
		return;
	}
	taken = &trace->all_blocks[trace->block_count++];
	taken->block = block;
	taken->tsc = block->tsc;
	taken->sequence = block->sequence;
	count_words(trace, taken);
}

/* `only_valid`: where no section says that these pages are blocks, others are not damage. */
static void look_at_page(struct scan *scan, uint64_t offset, bool only_valid)
{
	const struct ep_block *block = ep_trace_view(scan->trace, offset, EP_BLOCK_SIZE);
	uint64_t identity = scan->trace->image->root.identity;

	if (!block)
		return;
	if (block->check && block->check == ep_block_check(block, offset, identity))
		add_block(scan, block);
	else if (!only_valid && !is_zero(block))
		count_torn(scan, block, offset);
}

static int compare_claims(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Blocks of an earlier generation (before a fork) hold under an identity that is no longer known.
 * Chance does not make two torn blocks ask for the same one, so those that do are foreign, not
 * torn. */
static void count_foreign(struct scan *scan)
{
	struct ep_trace_damage *damage = &scan->trace->damage;
	uint64_t *claims = scan->claims;
	uint64_t count = scan->claim_count;

	if (count)
		qsort(claims, count, sizeof(*claims), compare_claims);
	for (uint64_t i = 0; i < count; i++) {
		bool twin = (i > 0 && claims[i - 1] == claims[i]) ||
			    (i + 1 < count && claims[i + 1] == claims[i]);

		if (twin && damage->blocks_torn) {
			damage->blocks_foreign++;
			damage->blocks_torn--;
		}
	}
}

static void scan_pages(struct ep_trace *trace, const struct ep_trace_section *section)
{
	uint64_t start = section->there ? section->offset : EP_BLOCK_SIZE;
	uint64_t size = section->there               ? section->size
			: trace->image->size > start ? trace->image->size - start
						     : 0;
	uint64_t pages = size / EP_BLOCK_SIZE;
	struct scan scan = {.trace = trace};

	trace->all_blocks = ep_calloc(pages, sizeof(*trace->all_blocks));
	scan.claims = ep_calloc(2 * pages, sizeof(*scan.claims));
	for (uint64_t i = 0; i < pages; i++)
		look_at_page(&scan, start + i * EP_BLOCK_SIZE, !section->there);
	count_foreign(&scan);
	free(scan.claims);
	if (scan.refused)
		ep_trace_warn(trace,
			      "%" PRIu64 " blocks are left out: their check word holds, but their "
			      "header makes no sense",
			      scan.refused);
}

/* ---- who owns what ---- */

static int compare_blocks(const void *a, const void *b)
{
	const struct ep_trace_block *x = a, *y = b;

	if (x->block->owner != y->block->owner)
		return x->block->owner < y->block->owner ? -1 : 1;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	/* Of two with one number the later comes first, and stays. */
	return (x->tsc < y->tsc) - (x->tsc > y->tsc);
}

static bool same_owner(const struct ep_trace_block *a, const struct ep_trace_block *b)
{
	return a->block->owner == b->block->owner;
}

static void drop_duplicates(struct ep_trace *trace)
{
	struct ep_trace_block *blocks = trace->all_blocks;
	uint64_t kept = 0;

	for (uint64_t i = 0; i < trace->block_count; i++) {
		if (kept && same_owner(&blocks[kept - 1], &blocks[i]) &&
		    blocks[kept - 1].sequence == blocks[i].sequence)
			trace->damage.blocks_duplicate++;
		else
			blocks[kept++] = blocks[i];
	}
	trace->block_count = kept;
}

static void count_lost(struct ep_trace *trace)
{
	struct ep_trace_block *blocks = trace->all_blocks;

	for (uint64_t i = 0; i < trace->block_count; i++) {
		bool first = i == 0 || !same_owner(&blocks[i - 1], &blocks[i]);
		uint64_t before = first ? 0 : blocks[i - 1].sequence;

		blocks[i].lost_before = blocks[i].sequence - before - 1;
		if (!first && blocks[i].tsc < blocks[i - 1].tsc)
			trace->damage.blocks_backward++;
	}
	if (trace->damage.blocks_backward)
		ep_trace_warn(trace,
			      "%" PRIu64 " blocks begin before the block that they follow: times "
			      "near them are not to be trusted",
			      trace->damage.blocks_backward);
}

static int compare_serials(const void *a, const void *b)
{
	const struct ep_trace_thread *x = a, *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

static const struct ep_trace_thread *find_thread(const struct ep_trace *trace, size_t count,
						 uint32_t serial)
{
	struct ep_trace_thread key = {.serial = serial};

	return count ? bsearch(&key, trace->threads, count, sizeof(key), compare_serials) : NULL;
}

/* Owners without an entry in the table. */
static void add_unknown_threads(struct ep_trace *trace)
{
	const struct ep_trace_block *blocks = trace->all_blocks;
	size_t known = trace->thread_count, owners = 0;
	struct ep_trace_thread *grown;

	for (uint64_t i = 0; i < trace->block_count; i++)
		owners += i == 0 || !same_owner(&blocks[i - 1], &blocks[i]);
	grown = ep_reallocarray(trace->threads, known + owners + 1, sizeof(*grown));
	trace->threads = grown;
	for (uint64_t i = 0; i < trace->block_count; i++) {
		uint32_t serial = blocks[i].block->owner;

		if ((i && same_owner(&blocks[i - 1], &blocks[i])) ||
		    find_thread(trace, known, serial))
			continue;
		grown[trace->thread_count++] = (struct ep_trace_thread){.serial = serial};
	}
	if (trace->thread_count != known)
		qsort(grown, trace->thread_count, sizeof(*grown), compare_serials);
}

static void note_times(struct ep_trace *trace, struct ep_trace_thread *thread)
{
	bool first = thread->blocks[0].sequence == 1;

	thread->forked =
		first && trace->arena.root.generation > 0 && thread->flags & EP_THREAD_MAIN;
	thread->from_start = first && !thread->forked;
	thread->first_tsc = thread->blocks[0].tsc;
	thread->last_tsc = ep_records_last_time(trace, thread);
	if (trace->first_tsc == 0 || thread->first_tsc < trace->first_tsc)
		trace->first_tsc = thread->first_tsc;
	if (thread->last_tsc > trace->last_tsc)
		trace->last_tsc = thread->last_tsc;
}

/* What a ring holds is known: the last blocks that were entered. One less is what is left while the
 * next is being entered. */
static uint64_t missed(const struct ep_trace_thread *thread)
{
	uint64_t entered = thread->blocks_entered, wanted, there = 0;

	/* The table may have been read before the blocks. */
	if (thread->block_count && thread->blocks[thread->block_count - 1].sequence > entered)
		entered = thread->blocks[thread->block_count - 1].sequence;
	if (!thread->ring_blocks || entered < thread->ring_first)
		return 0;
	wanted = entered - thread->ring_first + 1;
	if (wanted > thread->ring_blocks)
		wanted = thread->ring_blocks;
	for (size_t i = 0; i < thread->block_count; i++)
		there += thread->blocks[i].sequence > entered - wanted;
	return there + 1 < wanted ? wanted - there : 0;
}

/* Blocks that are damaged, or in pages that are not there, are told as such, and nobody knows whose
 * they were. */
static void count_missed(struct ep_trace *trace)
{
	const struct ep_trace_damage *damage = &trace->damage;

	if (damage->pages_missing || damage->blocks_torn || damage->blocks_foreign ||
	    trace->arena.gate & EP_GATE_COUNTING)
		return;
	for (size_t i = 0; i < trace->thread_count; i++) {
		struct ep_trace_thread *thread = &trace->threads[i];

		thread->blocks_missed = missed(thread);
		trace->damage.blocks_missed += thread->blocks_missed;
	}
}

/* Both lists ascend by serial, and each owner has a thread. */
static void give_blocks(struct ep_trace *trace)
{
	struct ep_trace_thread *thread = trace->threads;

	for (uint64_t i = 0; i < trace->block_count;) {
		struct ep_trace_block *first = &trace->all_blocks[i];
		size_t count = 0;

		while (i < trace->block_count && same_owner(first, &trace->all_blocks[i]))
			i++, count++;
		while (thread->serial != first->block->owner)
			thread++;
		thread->blocks = first;
		thread->block_count = count;
		note_times(trace, thread);
	}
}

void ep_trace_read_blocks(struct ep_trace *trace, const struct ep_trace_section *section)
{
	scan_pages(trace, section);
	if (trace->block_count)
		qsort(trace->all_blocks, trace->block_count, sizeof(*trace->all_blocks),
		      compare_blocks);
	drop_duplicates(trace);
	count_lost(trace);
	ep_trace_find_overwritten(trace);
	add_unknown_threads(trace);
	give_blocks(trace);
	count_missed(trace);
}

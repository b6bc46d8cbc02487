/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_read.c: reads each piece of a running process's rings twice. A block whose check word is the
 * same both times, and whose last record is there, was whole in between: its owner wipes the check
 * word before anything else of it. Of one that is being written the second look's records are
 * taken, as far as the first look's go, if a third look finds the same check word. A thread's
 * blocks that were entered after the first look at any of them are left out: the one before may
 * have been read when it was not full yet, and nobody would know.
 */
#include "coredump/live/live_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/live/control.h"
#include "coredump/memory/source_impl.h"
#include "coredump/util/alloc.h"

#define PIECE (UINT64_C(1) << 20) /* bytes: a hold is renewed after each */

/* Of one call: what is read, and who is held for it. */
struct reading {
	struct ep_live_read *live;
	struct ep_source *source;
	const struct ep_root_found *found;
	uint64_t address; /* of the first of `bytes` */
	uint8_t *bytes;
	struct ep_control control;
	uint64_t hold; /* as set last; 0: nobody is held */
};

static bool is_block(const struct ep_block *block, uint64_t offset,
		     const struct ep_root_found *found)
{
	return block->check && block->check == ep_block_check(block, offset, found->root.identity);
}

/* Also where a record was being written when a later one was there already. */
static bool is_full(const struct ep_block *block)
{
	for (uint32_t i = EP_BLOCK_RECORDS; i > 0; i--)
		if (!block->records[i - 1])
			return false;
	return true;
}

static uint32_t words_of(const struct ep_block *block)
{
	uint32_t words = EP_BLOCK_RECORDS;

	while (words && !block->records[words - 1])
		words--;
	return words;
}

/* When the block's thread was first met: `begun`, if it is now. */
static uint64_t until_of(struct ep_live_read *live, const struct ep_block *block, uint64_t begun)
{
	uint64_t *until = &live->until[block->owner % EP_LIVE_READ_OWNERS];

	if (*until == 0)
		*until = begun;
	return *until;
}

/* What is right of `first`, which lies at `at`; false: nothing. */
static bool settle(const struct reading *r, struct ep_block *first, const struct ep_block *second,
		   uint64_t at, uint64_t until)
{
	uint64_t check = 0;

	if (first->check != second->check || first->tsc > until)
		return false;
	if (is_full(first))
		return true;
	ep_source_read(r->source, at + offsetof(struct ep_block, check), &check, sizeof(check),
		       NULL, NULL);
	memcpy(first->records, second->records, words_of(first) * sizeof(first->records[0]));
	return first->check == check;
}

/* What is no block at the first look and is one at the second was just being entered. */
static bool keep(const struct reading *r, struct ep_block *block, const struct ep_block *second,
		 uint64_t at, uint64_t begun)
{
	uint64_t offset = at - r->found->arena_address;

	if (is_block(block, offset, r->found))
		return settle(r, block, second, at, until_of(r->live, block, begun));
	return !is_block(second, offset, r->found);
}

/* `begun`: TSC before the piece was read. */
static void settle_piece(const struct reading *r, uint64_t address, uint8_t *bytes, size_t size,
			 uint64_t begun)
{
	const size_t count = size / EP_BLOCK_SIZE;

	/* Whatever cannot be read any more has changed. */
	memset(r->live->again, 0, count * EP_BLOCK_SIZE);
	ep_source_read(r->source, address, r->live->again, count * EP_BLOCK_SIZE, NULL, NULL);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = address + i * EP_BLOCK_SIZE;
		struct ep_block *block = (void *)(bytes + i * EP_BLOCK_SIZE);
		const struct ep_block *second = (void *)(r->live->again + i * EP_BLOCK_SIZE);

		if (!keep(r, block, second, at, begun))
			memset(block, 0, sizeof(*block));
	}
}

void ep_live_read_deinit(struct ep_live_read *live)
{
	free(live->until);
	free(live->again);
	memset(live, 0, sizeof(*live));
}

static void live_read_begin(struct ep_live_read *live)
{
	if (live->until)
		return;
	live->until = ep_calloc(EP_LIVE_READ_OWNERS, sizeof(*live->until));
	live->again = ep_malloc(PIECE);
}

/* ---- the hold ---- */

/* Nobody is held where that is not known or not allowed. */
static void hold_begin(struct reading *r)
{
	if (ep_source_kind(r->source) != EP_SOURCE_LIVE ||
	    r->found->root.minor < EP_HOLD_SINCE_MINOR ||
	    ep_control_open(&r->control, r->source, r->found, NULL))
		return;
	if (ep_control_hold(&r->control, &r->hold)) {
		ep_control_close(&r->control);
		r->hold = 0;
	}
}

static void hold_end(struct reading *r)
{
	if (!r->hold)
		return;
	ep_control_release(&r->control, r->hold);
	ep_control_close(&r->control);
	r->hold = 0;
}

/* ---- reading ---- */

/* The first page's sections, as far as they make sense. */
static struct ep_section section_of(const struct ep_arena *arena, uint32_t type)
{
	for (unsigned i = 0; i < EP_SECTION_MAX; i++)
		if (arena->sections[i].type == type)
			return arena->sections[i];
	return (struct ep_section){0};
}

/* The table once more, so that it is not older than the blocks. */
static void read_threads(const struct reading *r, const struct ep_arena *arena, size_t done)
{
	struct ep_section threads = section_of(arena, EP_SECTION_THREADS);
	uint64_t at = r->found->arena_address + threads.offset;

	if (at >= r->address && threads.size <= done && at - r->address <= done - threads.size)
		ep_source_read(r->source, at, r->bytes + (at - r->address), threads.size, NULL,
			       NULL);
}

/* From *done to `size`, which are blocks. */
static int read_rings(struct reading *r, size_t size, size_t *done, struct ep_err *err)
{
	int rc = EP_OK;

	while (*done < size && rc == EP_OK) {
		size_t piece = size - *done < PIECE ? size - *done : PIECE;
		uint64_t begun = __builtin_ia32_rdtsc();
		size_t got;

		rc = ep_source_read(r->source, r->address + *done, r->bytes + *done, piece, &got,
				    err);
		settle_piece(r, r->address + *done, r->bytes + *done, got, begun);
		*done += got;
		if (r->hold && *done < size && ep_control_hold(&r->control, &r->hold))
			hold_end(r);
	}
	return rc;
}

/* What lies before the rings takes as long again to read, and nobody needs to be held for that. */
static int read_arena(struct reading *r, const struct ep_arena *arena, size_t size, size_t *done,
		      struct ep_err *err)
{
	struct ep_section rings = section_of(arena, EP_SECTION_RINGS);
	uint64_t start = r->found->arena_address + rings.offset;
	size_t head = start > r->address ? start - r->address : 0;
	int rc = EP_OK;

	/* So that no page is made while threads are held. */
	memset(r->bytes, 0, size);
	head = head < size ? head : size;
	if (head)
		rc = ep_source_read(r->source, r->address, r->bytes, head, done, err);
	if (rc || head == size)
		return rc;
	hold_begin(r);
	read_threads(r, arena, head);
	rc = read_rings(r, size, done, err);
	hold_end(r);
	return rc;
}

int ep_live_read_read(struct ep_live_read *live, struct ep_source *source,
		      const struct ep_root_found *found, uint64_t address, void *out, size_t size,
		      size_t *done, struct ep_err *err)
{
	struct reading r = {
		.live = live, .source = source, .found = found, .address = address, .bytes = out};
	struct ep_section rings;
	struct ep_arena arena;

	if (!source->changing || address % EP_PAGE || address < found->arena_address ||
	    address - found->arena_address >= found->root.arena_size ||
	    ep_source_read(source, found->arena_address, &arena, sizeof(arena), NULL, NULL))
		return ep_source_read(source, address, out, size, done, err);
	*done = 0;
	rings = section_of(&arena, EP_SECTION_RINGS);
	if (rings.type && (rings.offset % EP_PAGE || rings.offset < EP_PAGE ||
			   rings.offset > found->root.arena_size))
		return ep_fail(err, EP_E_FORMAT, found->arena_address,
			       "%s: the arena says that its rings begin at 0x%" PRIx64
			       ", which is no page of it: it was written over, or means harm",
			       source->name, rings.offset);
	live_read_begin(live);
	return read_arena(&r, &arena, size, done, err);
}

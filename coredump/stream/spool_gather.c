/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spool_gather.c: which pages of a stream's memory are kept. They pass by once, so it is decided by
 * what is known when they do: the threads' stack pointers (from the notes), what begins an arena
 * (on a page boundary, as the root does too), and where in its mapping a page lies.
 */
#include "coredump/stream/spool_impl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coredump/memory/ranges.h"
#include "coredump/util/array.h"
#include "coredump/util/progress.h"
#include "coredump/util/search.h"
#include "coredump/find/root_check.h"

#define BUDGET      (UINT64_C(256) << 20) /* bytes kept by their place alone */
#define BELOW_STACK (64u << 10)           /* of a stack pointer: red zone, overflow */
#define STACK_MAX   (UINT64_C(8) << 20)
/* ELF headers, vDSO, .dynamic behind RELRO; data, and what was allocated early, as the dynamic
 * linker's list; a stack that a handler interrupted. */
#define BEGINNING_READ  (256u << 10)
#define BEGINNING_WRITE (UINT64_C(1) << 20)
#define ENDING_WRITE    (UINT64_C(1) << 20)

struct gathering {
	struct ep_source *source;
	struct ep_ranges stacks; /* joined */
	uint64_t keep_until;     /* process virtual: end of an arena met */
	uint64_t budget;         /* bytes left */
	EP_ARRAY(struct ep_segment) pieces;
};

/* ---- which pages ---- */

static void stacks_note(struct gathering *gathering)
{
	const struct ep_source *source = gathering->source;

	for (size_t i = 0; i < source->threads.count; i++) {
		uint64_t sp = source->threads.list[i].registers.sp;
		uint64_t low = sp > BELOW_STACK ? sp - BELOW_STACK : 0;

		if (source->threads.list[i].has_registers)
			ep_ranges_add(&gathering->stacks, low, sp - low + STACK_MAX);
	}
	ep_ranges_join(&gathering->stacks);
}

static bool in_stack(const struct gathering *gathering, uint64_t address)
{
	const struct ep_ranges *stacks = &gathering->stacks;
	size_t at = ep_partition_point(stacks->count, i, stacks->list[i].end <= address);

	return at < stacks->count && stacks->list[at].start <= address;
}

/* The page opens an arena, or is the root's. */
static bool is_ours(struct gathering *gathering, const uint8_t *page, size_t size, uint64_t address)
{
	static const char *const arenas[] = {EP_ARENA_MAGIC, EP_KEPT_MAGIC};
	struct ep_root root;

	if (size < sizeof(root))
		return false;
	if (memcmp(page, EP_ROOT_MAGIC, EP_MAGIC_SIZE) == 0)
		return true;
	memcpy(&root, page, sizeof(root));
	for (int i = 0; i < 2; i++) {
		if (ep_root_check(&root, arenas[i], address, NULL) != EP_OK)
			continue;
		if (address + root.arena_size > gathering->keep_until)
			gathering->keep_until = address + root.arena_size;
		return true;
	}
	return false;
}

/* Kept for its place in the mapping. */
static bool well_placed(struct gathering *gathering, const struct ep_segment *segment,
			uint64_t within)
{
	bool writable = segment->flags & PF_W;
	uint64_t beginning = writable ? BEGINNING_WRITE : BEGINNING_READ;

	if (within == 0)
		return true;
	if (gathering->budget < EP_PAGE ||
	    (within >= beginning && !(writable && segment->memory_size - within <= ENDING_WRITE)))
		return false;
	gathering->budget -= EP_PAGE;
	return true;
}

static bool page_wanted(struct gathering *gathering, const struct ep_segment *segment,
			const uint8_t *page, size_t size, uint64_t within)
{
	uint64_t address = segment->address + within;

	return is_ours(gathering, page, size, address) || address < gathering->keep_until ||
	       ((segment->flags & PF_W) && in_stack(gathering, address)) ||
	       well_placed(gathering, segment, within);
}

/* ---- pieces ---- */

enum fate { KEPT, UNKEPT, CUT, UNSAVED };

static void piece_add(struct gathering *gathering, const struct ep_segment *segment,
		      uint64_t within, uint64_t size, enum fate fate)
{
	struct ep_segment piece = {
		.address = segment->address + within,
		.memory_size = size,
		.saved_size = fate == KEPT || fate == CUT ? size : 0,
		.present_size = fate == KEPT ? size : 0,
		.file_offset = segment->file_offset + within,
		.flags = segment->flags | (fate == UNKEPT ? EP_SEGMENT_UNKEPT : 0),
	};
	struct ep_segment *last;

	if (size == 0)
		return;
	last = within ? &gathering->pieces.list[gathering->pieces.count - 1] : NULL;
	if (last && last->flags == piece.flags && !!last->saved_size == !!piece.saved_size &&
	    !!last->present_size == !!piece.present_size) {
		last->memory_size += size;
		last->saved_size += piece.saved_size;
		last->present_size += piece.present_size;
	} else {
		ep_array_push(&gathering->pieces, piece);
	}
}

/* ---- one segment ---- */

static int chunk_sift(struct gathering *gathering, const struct ep_segment *segment,
		      uint64_t within, size_t size, struct ep_err *err)
{
	struct ep_source *source = gathering->source;
	const uint8_t *bytes = source->spool->buffer;
	int rc = EP_OK;

	for (size_t at = 0, page; at < size && rc == EP_OK; at += page) {
		bool wanted;

		page = size - at < EP_PAGE ? size - at : EP_PAGE;
		wanted = page_wanted(gathering, segment, bytes + at, page, within + at);
		if (wanted)
			rc = ep_spool_write(source, bytes + at, page,
					    segment->file_offset + within + at, err);
		piece_add(gathering, segment, within + at, page, wanted ? KEPT : UNKEPT);
	}
	return rc;
}

static int segment_sift(struct gathering *gathering, const struct ep_segment *segment,
			struct ep_err *err)
{
	struct ep_source *source = gathering->source;
	struct ep_spool *spool = source->spool;
	uint64_t within = 0;
	int rc = EP_OK;

	if (segment->present_size)
		rc = ep_spool_skip_to(source, segment->file_offset, err);

	/* Bytes that another segment has had already do not come again. */
	if (rc == EP_OK && segment->present_size && spool->position > segment->file_offset) {
		within = spool->position - segment->file_offset;
		if (within > segment->present_size)
			within = segment->present_size;
		piece_add(gathering, segment, 0, within, UNKEPT);
	}
	while (rc == EP_OK && within < segment->present_size && !spool->ended) {
		uint64_t left = segment->present_size - within;
		size_t got;

		rc = ep_spool_read(source, left < EP_SPOOL_CHUNK ? left : EP_SPOOL_CHUNK, &got,
				   err);
		rc = rc ? rc : chunk_sift(gathering, segment, within, got, err);
		within += got;
	}
	if (rc)
		return rc;
	piece_add(gathering, segment, within, segment->saved_size - within, CUT);
	piece_add(gathering, segment, segment->saved_size,
		  segment->memory_size - segment->saved_size, UNSAVED);
	return EP_OK;
}

/* ---- all of them ---- */

static int by_offset(const void *left, const void *right)
{
	const struct ep_segment *a = left, *b = right;

	return (a->file_offset > b->file_offset) - (a->file_offset < b->file_offset);
}

static int by_address(const void *left, const void *right)
{
	const struct ep_segment *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static int segments_sift(struct gathering *gathering, struct ep_err *err)
{
	struct ep_source *source = gathering->source;
	int rc = EP_OK;

	ep_array_sort(&source->segments, by_offset);
	for (size_t i = 0; i < source->segments.count && rc == EP_OK; i++)
		rc = segment_sift(gathering, &source->segments.list[i], err);
	if (rc == EP_OK)
		ep_array_sort(&gathering->pieces, by_address);
	return rc;
}

/* The file ends behind what it holds, also where that is zeroes. */
static int file_end(const struct gathering *gathering, struct ep_err *err)
{
	uint64_t end = 0;

	for (size_t i = 0; i < gathering->pieces.count; i++) {
		const struct ep_segment *piece = &gathering->pieces.list[i];

		if (piece->present_size && piece->file_offset + piece->present_size > end)
			end = piece->file_offset + piece->present_size;
	}
	if (end && ftruncate(gathering->source->fd, (off_t)end) != 0)
		return ep_fail(err, EP_E_IO, end, "%s: %m", gathering->source->spool->directory);
	return EP_OK;
}

int ep_spool_gather(struct ep_source *source, struct ep_err *err)
{
	struct gathering gathering = {.source = source, .budget = BUDGET};
	int rc;

	if (source->spool->whole || source->segments.count == 0)
		return EP_OK;
	if (source->threads.count && source->file_size <= EP_SPARSE_MAX)
		ep_bytestream_expect(source->spool->stream, EP_SPARSE_MAX);
	stacks_note(&gathering);
	rc = segments_sift(&gathering, err);
	rc = rc ? rc : file_end(&gathering, err);
	ep_progress_end();
	ep_ranges_deinit(&gathering.stacks);
	if (rc) {
		ep_array_deinit(&gathering.pieces);
		return rc;
	}
	free(source->segments.list);
	source->segments.list = gathering.pieces.list;
	source->segments.count = gathering.pieces.count;
	if (source->spool->ended)
		source->file_size = source->spool->position;
	return EP_OK;
}

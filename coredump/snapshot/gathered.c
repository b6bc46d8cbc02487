/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gathered.c: notes and pieces of a snapshot, before anything is written. Pieces ascend, and have
 * no byte that the source does not hold.
 */
#include "coredump/snapshot/gathered.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/files/output.h"
#include "coredump/live/live_read.h"
#include "coredump/memory/source_impl.h"
#include "coredump/snapshot/image.h"
#include "coredump/util/alloc.h"

#define CAPTURE (UINT64_C(1) << 20) /* bytes that are read at once */

void ep_gathered_deinit(struct ep_gathered *gathered)
{
	for (size_t i = 0; i < gathered->made.count; i++)
		free(gathered->made.list[i]);
	ep_array_deinit(&gathered->made);
	ep_array_deinit(&gathered->notes);
	ep_array_deinit(&gathered->pieces);
	free(gathered->captured);
}

/* ---- notes ---- */

void ep_gathered_note(struct ep_gathered *gathered, const char *name, uint32_t type,
		      const void *desc, uint32_t size)
{
	ep_array_push(&gathered->notes, ((struct ep_elfcore_note){name, type, size, desc}));
}

uint8_t *ep_gathered_make(struct ep_gathered *gathered, size_t size)
{
	uint8_t *bytes = ep_calloc(1, size);

	ep_array_push(&gathered->made, bytes);
	return bytes;
}

void ep_gathered_snapshot_note(struct ep_gathered *gathered, const struct ep_snapshot_note *head,
			       const struct ep_snapshot_thread *threads)
{
	size_t rest = head->thread_count * sizeof(*threads), size = sizeof(*head) + rest;
	uint8_t *bytes = ep_gathered_make(gathered, size);

	memcpy(bytes, head, sizeof(*head));
	memcpy(bytes + sizeof(*head), threads, rest);
	ep_gathered_note(gathered, EP_NOTE_NAME, EP_NOTE_SNAPSHOT, bytes, (uint32_t)size);
}

/* ---- pieces ---- */

static void piece_add(struct ep_gathered *gathered, uint64_t start, uint64_t end, uint32_t flags)
{
	size_t count = gathered->pieces.count;
	struct ep_elfcore_piece *last = count ? &gathered->pieces.list[count - 1] : NULL;

	if (start >= end)
		return;
	if (last && last->address + last->size == start && last->flags == flags)
		last->size += end - start;
	else
		ep_array_push(&gathered->pieces,
			      ((struct ep_elfcore_piece){start, end - start, flags, NULL}));
}

void ep_gathered_choose(struct ep_gathered *gathered, const struct ep_ranges *ranges)
{
	const struct ep_source *source = gathered->source;
	size_t from = 0;

	for (size_t i = 0; i < source->segments.count; i++) {
		const struct ep_segment *segment = &source->segments.list[i];
		uint64_t low = segment->address;
		uint64_t high = low + segment->present_size;

		while (from < ranges->count && ranges->list[from].end <= low)
			from++;
		for (size_t k = from; k < ranges->count && ranges->list[k].start < high; k++) {
			const struct ep_range *range = &ranges->list[k];

			piece_add(gathered, range->start > low ? range->start : low,
				  range->end < high ? range->end : high, segment->flags);
		}
	}
}

static uint32_t flags_at(const struct ep_source *source, uint64_t address)
{
	const struct ep_segment *segment = ep_source_segment_at(source, address);

	return segment ? segment->flags : PF_R;
}

/* A page that cannot be read is left out. *used: bytes that `captured` has. */
static int range_read(struct ep_gathered *gathered, struct ep_live_read *reading,
		      const struct ep_root_found *found, const struct ep_range *range,
		      uint64_t *used, struct ep_err *err)
{
	struct ep_source *source = gathered->source;
	uint64_t at = range->start, end = range->end;

	while (at < end) {
		size_t got;
		int rc = ep_live_read_read(reading, source, found, at, gathered->captured + *used,
					   end - at, &got, err);

		if (rc == EP_E_IO || rc == EP_E_FORMAT)
			return rc;
		got = rc ? got & ~(size_t)(EP_PAGE - 1) : got;
		*used += got;
		piece_add(gathered, at, at + got, flags_at(source, at));
		at += got + (got < end - at ? EP_PAGE : 0);
	}
	return EP_OK;
}

int ep_gathered_read(struct ep_gathered *gathered, const struct ep_root_found *found,
		     const struct ep_ranges *ranges, struct ep_err *err)
{
	struct ep_live_read reading = {0};
	uint64_t used = 0, size = ep_ranges_size(ranges), held;
	int rc = EP_OK;

	/* Ranges are the process's word, and what it maps costs it nothing. */
	if (gathered->source->kind == EP_SOURCE_LIVE && size > EP_IMAGE_BELIEVED) {
		held = ep_image_held(gathered->source, found->arena_address);
		if (size / 2 > EP_IMAGE_BELIEVED / 2 + held / 2)
			return ep_fail(err, EP_E_LIMIT, found->arena_address,
				       "%s: its arena and what it keeps are said to be %" PRIu64
				       " MiB, and it has %" PRIu64 " MiB of memory",
				       gathered->source->name, size >> 20, held >> 20);
	}
	gathered->captured = ep_malloc(size);
	for (size_t i = 0; i < ranges->count && rc == EP_OK; i++)
		rc = range_read(gathered, &reading, found, &ranges->list[i], &used, err);
	ep_live_read_deinit(&reading);
	used = 0;
	for (size_t i = 0; i < gathered->pieces.count; i++) {
		gathered->pieces.list[i].bytes = gathered->captured + used;
		used += gathered->pieces.list[i].size;
	}
	return rc;
}

/* The bytes of a piece that holds still; holes of the source's stay untouched memory. */
static int piece_capture(struct ep_source *source, const struct ep_elfcore_piece *piece,
			 uint8_t *out, struct ep_err *err)
{
	uint64_t at = piece->address, end = at + piece->size;
	int rc = EP_OK;

	while (rc == EP_OK && (at = ep_source_next_data(source, at, end)) < end) {
		uint64_t next = (at | (CAPTURE - 1)) + 1;

		next = next < end ? next : end;
		rc = ep_source_read(source, at, out + (at - piece->address), next - at, NULL, err);
		at = next;
	}
	return rc;
}

/* Bytes have the place in a page that they have in the process, so that what is aligned there is so
 * here. */
int ep_gathered_capture(struct ep_gathered *gathered, struct ep_err *err)
{
	uint64_t size = 0, used = 0;
	int rc = EP_OK;

	for (size_t i = 0; i < gathered->pieces.count; i++)
		size += gathered->pieces.list[i].size + EP_PAGE;
	gathered->captured = ep_calloc(1, size);
	for (size_t i = 0; i < gathered->pieces.count && rc == EP_OK; i++) {
		struct ep_elfcore_piece *piece = &gathered->pieces.list[i];

		used += (piece->address - used) % EP_PAGE;
		piece->bytes = gathered->captured + used;
		rc = piece_capture(gathered->source, piece, gathered->captured + used, err);
		used += piece->size;
	}
	return rc;
}

size_t ep_gathered_behind(const struct ep_gathered *gathered, uint64_t address)
{
	size_t low = 0, high = gathered->pieces.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct ep_elfcore_piece *piece = &gathered->pieces.list[middle];

		if (piece->address + piece->size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- parts of pieces ---- */

/* What the next piece, from *index on, has of [start, end); false: no more. */
static bool next_part(const struct ep_gathered *gathered, size_t *index, uint64_t start,
		      uint64_t end, struct ep_range *out)
{
	const struct ep_elfcore_piece *piece;

	if (*index == gathered->pieces.count)
		return false;
	piece = &gathered->pieces.list[*index];
	if (piece->address >= end)
		return false;
	out->start = piece->address > start ? piece->address : start;
	out->end = piece->address + piece->size < end ? piece->address + piece->size : end;
	++*index;
	return true;
}

static uint8_t *bytes_of(const struct ep_gathered *gathered, const struct ep_elfcore_piece *piece,
			 uint64_t address)
{
	return gathered->captured + (piece->bytes - gathered->captured) +
	       (address - piece->address);
}

uint64_t ep_gathered_within(const struct ep_gathered *gathered, uint64_t start, uint64_t end)
{
	size_t index = ep_gathered_behind(gathered, start);
	struct ep_range part;
	uint64_t size = 0;

	while (next_part(gathered, &index, start, end, &part))
		size += part.end - part.start;
	return size;
}

uint8_t *ep_gathered_at(struct ep_gathered *gathered, uint64_t address, uint64_t size)
{
	size_t index = ep_gathered_behind(gathered, address);
	const struct ep_elfcore_piece *piece;

	if (index == gathered->pieces.count)
		return NULL;
	piece = &gathered->pieces.list[index];
	if (address < piece->address || size > piece->size - (address - piece->address))
		return NULL;
	return bytes_of(gathered, piece, address);
}

void ep_gathered_wipe(struct ep_gathered *gathered, uint64_t address, uint64_t size)
{
	size_t index = ep_gathered_behind(gathered, address);
	struct ep_range part;
	uint64_t end;

	if (__builtin_add_overflow(address, size, &end))
		end = UINT64_MAX;
	while (next_part(gathered, &index, address, end, &part))
		memset(bytes_of(gathered, &gathered->pieces.list[index - 1], part.start), 0,
		       part.end - part.start);
}

/* ---- the file ---- */

int ep_gathered_write(const struct ep_gathered *gathered, int fd, const char *name,
		      uint64_t *written, struct ep_err *err)
{
	struct ep_elfcore core = {gathered->notes.list, gathered->notes.count,
				  gathered->pieces.list, gathered->pieces.count};

	return ep_elfcore_write(&core, gathered->source, fd, name, written, err);
}

int ep_gathered_save(const struct ep_gathered *gathered, const char *path, bool force,
		     uint64_t *written, struct ep_err *err)
{
	struct ep_output output;
	int rc = ep_source_spare(gathered->source, path, err);

	rc = rc ? rc : ep_output_open(&output, path, force, err);
	if (rc)
		return rc;
	rc = ep_gathered_write(gathered, output.fd, output.path, written, err);
	if (rc == EP_OK)
		return ep_output_commit(&output, err);
	ep_output_abandon(&output);
	return rc;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* extract.c: gathers what a snapshot holds, then writes it in one pass. */
#include "coredump/snapshot/extract.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/snapshot/compact.h"
#include "coredump/snapshot/extract_impl.h"
#include "coredump/snapshot/image.h"
#include "coredump/snapshot/kept.h"
#include "coredump/files/output.h"
#include "coredump/memory/source_impl.h"
#include "coredump/live/live_read.h"

void ep_extract_deinit_notes(struct ep_extraction *x)
{
	free(x->notes);
	free(x->made);
	for (size_t i = 0; i < x->remade_count; i++)
		free(x->remade[i]);
	free(x->remade);
}

static void extraction_deinit(struct ep_extraction *x)
{
	ep_extract_deinit_notes(x);
	ep_ranges_deinit(&x->all);
	ep_ranges_deinit(&x->pages);
	free(x->threads);
	free(x->pieces);
	free(x->captured);
	free(x->exact);
	ep_live_read_deinit(&x->steady);
}

/* ---- the snapshot that we read, if it is one ---- */

static void before_take(struct ep_extraction *x)
{
	const struct ep_source *source = x->source;

	for (size_t i = 0; i < source->note_count && !x->before.size; i++) {
		const struct ep_note *note = &source->notes[i];
		size_t room;

		if (!ep_note_is_snapshot(note) || note->desc_size < sizeof(x->before))
			continue;
		memcpy(&x->before, note->desc, sizeof(x->before));
		if (x->before.size < sizeof(x->before) || x->before.size > note->desc_size) {
			x->before.size = 0;
			continue;
		}
		room = (note->desc_size - x->before.size) / sizeof(struct ep_snapshot_thread);
		if (x->before.thread_count > room)
			x->before.thread_count = (uint32_t)room;
		x->before_threads = note->desc + x->before.size;
	}
	if (!x->before.size)
		memset(&x->before, 0, sizeof(x->before));
}

/* ---- what to save ---- */

static int threads_fill(struct ep_extraction *x, struct ep_err *err)
{
	const struct ep_source_thread *list = ep_source_threads(x->source, &x->thread_count);

	x->threads = calloc(x->thread_count + 1, sizeof(*x->threads));
	if (!x->threads)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	for (size_t i = 0; i < x->thread_count; i++) {
		x->threads[i].tid = list[i].tid;
		x->threads[i].stack_pointer = list[i].registers.sp;
	}
	return EP_OK;
}

/* What the process kept is part of the trace; what is not there is left out. */
static int kept_add(struct ep_extraction *x, struct ep_err *err)
{
	struct ep_kept_list kept;
	int rc = ep_kept_list(&kept, x->source, x->found, err);

	for (size_t i = 0; i < kept.count && rc == EP_OK; i++)
		if (kept.list[i].present)
			ep_ranges_add(&x->all, kept.list[i].kept.address, kept.list[i].kept.size);
	ep_kept_list_deinit(&kept);
	return rc;
}

static int wishes_gather(struct ep_extraction *x, struct ep_err *err)
{
	uint64_t arena = ep_image_wanted(x->source, x->found);
	int rc = threads_fill(x, err);

	x->note.arena_size = arena;
	ep_ranges_add(&x->all, x->found->arena_address, arena);
	rc = rc ? rc : kept_add(x, err);
	if (rc)
		return rc;
	ep_extract_stacks(x);
	return ep_extract_modules(x, err);
}

/* ---- pieces: what of it there is ---- */

#define CAPTURE (UINT64_C(1) << 20) /* bytes that are read at once */

static int piece_add(struct ep_extraction *x, uint64_t start, uint64_t end, uint32_t flags,
		     struct ep_err *err)
{
	struct ep_elfcore_piece *last = x->piece_count ? &x->pieces[x->piece_count - 1] : NULL;

	if (start >= end)
		return EP_OK;
	if (last && last->address + last->size == start && last->flags == flags) {
		last->size += end - start;
		return EP_OK;
	}
	if (!ep_list_grow(&x->pieces, x->piece_count, &x->piece_capacity, sizeof(*x->pieces)))
		return ep_fail(err, EP_E_MEMORY, start, "out of memory");
	x->pieces[x->piece_count++] = (struct ep_elfcore_piece){start, end - start, flags, NULL};
	return EP_OK;
}

static int pieces_of_core(struct ep_extraction *x, struct ep_err *err)
{
	const struct ep_source *source = x->source;
	size_t from = 0;
	int rc = EP_OK;

	for (size_t i = 0; i < source->segment_count && rc == EP_OK; i++) {
		const struct ep_segment *segment = &source->segments[i];
		uint64_t low = segment->address;
		uint64_t high = low + segment->present_size;

		while (from < x->all.count && x->all.list[from].end <= low)
			from++;
		for (size_t k = from; k < x->all.count && x->all.list[k].start < high && !rc; k++) {
			const struct ep_range *range = &x->all.list[k];

			rc = piece_add(x, range->start > low ? range->start : low,
				       range->end < high ? range->end : high, segment->flags, err);
		}
	}
	return rc;
}

static uint32_t flags_at(const struct ep_source *source, uint64_t address)
{
	const struct ep_segment *segment = ep_source_segment_at(source, address);

	return segment ? segment->flags : PF_R;
}

/* A running process changes its mind: pages are taken first, and those that cannot be read are left
 * out before sizes are written. */
static int pieces_of_live(struct ep_extraction *x, struct ep_err *err)
{
	uint64_t size = ep_ranges_size(&x->all), used = 0;
	int rc = EP_OK;

	x->captured = malloc(size + 1);
	if (!x->captured)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory for %" PRIu64 " bytes", size);
	for (size_t i = 0; i < x->all.count; i++) {
		uint64_t at = x->all.list[i].start, end = x->all.list[i].end;

		while (at < end && rc == EP_OK) {
			size_t got;

			rc = ep_live_read_read(&x->steady, x->source, x->found, at,
					       x->captured + used, end - at, &got, err);
			got = rc ? got & ~(size_t)(EP_PAGE - 1) : got;
			if (rc == EP_E_IO || rc == EP_E_MEMORY)
				return rc;
			used += got;
			rc = piece_add(x, at, at + got, flags_at(x->source, at), err);
			at += got + (got < end - at ? EP_PAGE : 0);
		}
	}
	used = 0;
	for (size_t i = 0; i < x->piece_count; i++) {
		x->pieces[i].bytes = x->captured + used;
		used += x->pieces[i].size;
	}
	return rc;
}

/* Of the arena what is in use, if all of it was there; what lies behind it becomes a piece of its
 * own. */
static int arena_compact(struct ep_extraction *x, struct ep_err *err)
{
	size_t at = ep_extract_piece_behind(x, x->found->arena_address);
	uint64_t size = x->note.arena_size;
	struct ep_elfcore_piece *piece, rest;

	if (at == x->piece_count || x->pieces[at].address != x->found->arena_address ||
	    x->pieces[at].size < size)
		return EP_OK;
	if (!ep_list_grow(&x->pieces, x->piece_count, &x->piece_capacity, sizeof(*x->pieces)))
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	piece = &x->pieces[at];
	rest = *piece;
	rest.address += size;
	rest.size -= size;
	rest.bytes += size;
	x->note.arena_size = piece->size = ep_arena_compact(
		x->captured + (piece->bytes - x->captured), size, x->found->root.identity);
	if (!rest.size)
		return EP_OK;
	memmove(piece + 2, piece + 1, (x->piece_count - at - 1) * sizeof(*piece));
	piece[1] = rest;
	x->piece_count++;
	return EP_OK;
}

/* The bytes of a piece that holds still; holes of the source's stay untouched memory. */
static int piece_capture(struct ep_extraction *x, const struct ep_elfcore_piece *piece,
			 uint8_t *out, struct ep_err *err)
{
	uint64_t at = piece->address, end = at + piece->size;
	int rc = EP_OK;

	while (rc == EP_OK && (at = x->source->ops->next_data(x->source, at, end)) < end) {
		uint64_t next = (at | (CAPTURE - 1)) + 1;

		next = next < end ? next : end;
		rc = ep_source_read(x->source, at, out + (at - piece->address), next - at, NULL,
				    err);
		at = next;
	}
	return rc;
}

/* For what is to be redacted. Bytes have the place in a page that they have in the process, so that
 * what is aligned there is so here. */
static int pieces_capture(struct ep_extraction *x, struct ep_err *err)
{
	uint64_t size = 0, used = 0;
	int rc = EP_OK;

	for (size_t i = 0; i < x->piece_count; i++)
		size += x->pieces[i].size + EP_PAGE;
	x->captured = calloc(1, size + 1);
	if (!x->captured)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory for %" PRIu64 " bytes", size);
	for (size_t i = 0; i < x->piece_count && rc == EP_OK; i++) {
		struct ep_elfcore_piece *piece = &x->pieces[i];

		used += (piece->address - used) % EP_PAGE;
		piece->bytes = x->captured + used;
		rc = piece_capture(x, piece, x->captured + used, err);
		used += piece->size;
	}
	return rc;
}

size_t ep_extract_piece_behind(const struct ep_extraction *x, uint64_t address)
{
	size_t low = 0, high = x->piece_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->pieces[middle].address + x->pieces[middle].size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t pieces_within(const struct ep_extraction *x, uint64_t start, uint64_t end)
{
	uint64_t size = 0;

	for (size_t i = ep_extract_piece_behind(x, start);
	     i < x->piece_count && x->pieces[i].address < end; i++) {
		uint64_t low = x->pieces[i].address;
		uint64_t high = low + x->pieces[i].size;

		low = low > start ? low : start;
		high = high < end ? high : end;
		size += high > low ? high - low : 0;
	}
	return size;
}

/* ---- notes ---- */

int ep_extract_note(struct ep_extraction *x, const char *name, uint32_t type, const void *desc,
		    uint32_t size, struct ep_err *err)
{
	if (!ep_list_grow(&x->notes, x->note_count, &x->note_capacity, sizeof(*x->notes)))
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	x->notes[x->note_count++] = (struct ep_elfcore_note){name, type, size, desc};
	return EP_OK;
}

static int original_notes(struct ep_extraction *x, struct ep_err *err)
{
	const struct ep_source *source = x->source;
	int rc = EP_OK;

	if (source->kind == EP_SOURCE_LIVE)
		return ep_extract_live_notes(x, err);
	for (size_t i = 0; i < source->note_count && rc == EP_OK; i++) {
		const struct ep_note *note = &source->notes[i];

		if (!ep_note_is_snapshot(note))
			rc = ep_extract_note(x, note->name, note->type, note->desc, note->desc_size,
					     err);
	}
	return rc;
}

static void note_fill(struct ep_extraction *x)
{
	struct ep_snapshot_note *note = &x->note;
	const struct ep_root_found *found = x->found;
	uint64_t pages_saved = 0;

	note->major = EP_FORMAT_MAJOR;
	note->minor = EP_FORMAT_MINOR;
	note->size = sizeof(*note);
	note->arena_address = found->arena_address;
	note->arena_saved =
		pieces_within(x, found->arena_address, found->arena_address + note->arena_size);
	note->root_address = found->root_address;
	for (size_t i = 0; i < x->pages.count; i++)
		pages_saved += pieces_within(x, x->pages.list[i].start, x->pages.list[i].end);
	note->pages_wanted = ep_ranges_size(&x->pages) / EP_PAGE;
	note->pages_saved = pages_saved / EP_PAGE;
	note->found = found->how;
	note->thread_count = (uint32_t)x->thread_count;
	note->redacted = x->options.redact | x->before.redacted;
	note->ended = x->options.ended;
	/* A snapshot of a snapshot says how the first one came to be. */
	if (x->before.size) {
		note->found = x->before.found;
		note->taken_tsc = x->before.taken_tsc;
		note->ended = x->before.ended;
	}
	if (x->source->changing)
		note->taken_tsc = __builtin_ia32_rdtsc();
}

/* Our note: head and threads in one piece, into x->threads' place. */
static int own_note(struct ep_extraction *x, uint8_t **bytes, struct ep_err *err)
{
	size_t size = sizeof(x->note) + x->thread_count * sizeof(*x->threads);

	note_fill(x);
	*bytes = malloc(size);
	if (!*bytes)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	memcpy(*bytes, &x->note, sizeof(x->note));
	memcpy(*bytes + sizeof(x->note), x->threads, x->thread_count * sizeof(*x->threads));
	return ep_extract_note(x, EP_NOTE_NAME, EP_NOTE_SNAPSHOT, *bytes, (uint32_t)size, err);
}

/* ---- writing ---- */

static int snapshot_write(struct ep_extraction *x, const char *path, int fd, uint64_t *written,
			  struct ep_err *err)
{
	struct ep_elfcore core = {x->notes, x->note_count, x->pieces, x->piece_count};

	return ep_elfcore_write(&core, x->source, fd, path, written, err);
}

static int snapshot_create(struct ep_extraction *x, const char *path, uint64_t *written,
			   struct ep_err *err)
{
	struct ep_output output;
	int rc = ep_source_spare(x->source, path, err);

	rc = rc ? rc : ep_output_open(&output, path, x->options.force, err);
	if (rc)
		return rc;
	rc = snapshot_write(x, output.path, output.fd, written, err);
	if (rc == EP_OK)
		return ep_output_commit(&output, err);
	ep_output_abandon(&output);
	return rc;
}

static void result_fill(const struct ep_extraction *x, struct ep_extract_result *result)
{
	bool stacks = x->options.stack_bytes && !x->options.arena_only;

	result->arena_wanted = x->note.arena_size;
	result->arena_saved = x->note.arena_saved;
	result->pages_wanted = x->note.pages_wanted;
	result->pages_saved = x->note.pages_saved;
	result->threads = x->thread_count;
	for (size_t i = 0; stacks && i < x->thread_count; i++) {
		const struct ep_snapshot_thread *thread = &x->threads[i];

		if (thread->stack_saved == 0)
			result->stacks_missing++;
		else if (thread->stack_saved < thread->stack_wanted)
			result->stacks_cut++;
		else
			result->stacks_whole++;
	}
}

/* Where `fd` is -1 the file is made. */
static int extraction_run(struct ep_extraction *x, const char *path, int fd,
			  struct ep_extract_result *result, struct ep_err *err)
{
	uint8_t *own = NULL;
	int rc;

	before_take(x);
	rc = wishes_gather(x, err);
	ep_ranges_join(&x->all);
	if (rc == EP_OK)
		rc = x->source->changing ? pieces_of_live(x, err) : pieces_of_core(x, err);
	if (rc == EP_OK && x->options.redact && !x->source->changing)
		rc = pieces_capture(x, err);
	if (rc == EP_OK && x->source->changing)
		rc = arena_compact(x, err);
	rc = rc ? rc : original_notes(x, err);
	rc = rc ? rc
		: ep_redact(x, x->found->arena_address, x->note.arena_size, x->found->root.identity,
			    err);
	rc = rc ? rc : own_note(x, &own, err);
	if (rc == EP_OK && x->note.arena_saved == 0)
		rc = ep_fail(err, EP_E_UNSAVED, x->found->arena_address,
			     "%s: nothing of the arena at 0x%" PRIx64 " can be read",
			     x->source->name, x->found->arena_address);
	if (rc == EP_OK && fd < 0)
		rc = snapshot_create(x, path, &result->bytes_written, err);
	else if (rc == EP_OK)
		rc = snapshot_write(x, path, fd, &result->bytes_written, err);
	if (rc == EP_OK)
		result_fill(x, result);
	free(own);
	return rc;
}

static int extract(struct ep_source *source, const struct ep_root_found *found, const char *path,
		   int fd, const struct ep_extract_options *options,
		   struct ep_extract_result *result, struct ep_err *err)
{
	struct ep_extract_result own = {0};
	struct ep_extraction x = {.source = source, .found = found};
	int rc;

	x.options = options ? *options : EP_EXTRACT_DEFAULTS;
	if (x.options.redact & EP_REDACTED_STACKS)
		x.options.stack_bytes = 0;
	rc = extraction_run(&x, path, fd, &own, err);
	extraction_deinit(&x);
	if (rc == EP_OK && result)
		*result = own;
	return rc;
}

int ep_extract(struct ep_source *source, const struct ep_root_found *found, const char *path,
	       const struct ep_extract_options *options, struct ep_extract_result *result,
	       struct ep_err *err)
{
	return extract(source, found, path, -1, options, result, err);
}

int ep_extract_into(struct ep_source *source, const struct ep_root_found *found, int fd,
		    const char *name, const struct ep_extract_options *options, struct ep_err *err)
{
	return extract(source, found, name, fd, options, NULL, err);
}

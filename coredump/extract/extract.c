/* SPDX-License-Identifier: BSD-2-Clause */
/* extract.c: gathers what a snapshot holds, then writes it in one pass. */
#include "coredump/extract/extract.h"

#include <inttypes.h>
#include <string.h>

#include "coredump/memory/source_impl.h"
#include "coredump/redact/redact.h"
#include "coredump/snapshot/compact.h"
#include "coredump/snapshot/gathered.h"
#include "coredump/snapshot/process_notes.h"

struct extraction {
	const struct ep_root_found *found;
	struct ep_extract_options options;
	struct ep_pages pages;
	struct ep_gathered gathered;
};

/* ---- what it holds ---- */

/* Of the arena what is in use, if all of it was there; what lies behind it becomes a piece of its
 * own. */
static void arena_compact(struct extraction *x)
{
	struct ep_gathered *gathered = &x->gathered;
	size_t at = ep_gathered_behind(gathered, x->found->arena_address);
	uint64_t size = x->pages.arena_size;
	struct ep_elfcore_piece *piece, rest;
	uint8_t *bytes = ep_gathered_at(gathered, x->found->arena_address, size);

	if (!bytes || gathered->pieces.list[at].address != x->found->arena_address)
		return;
	ep_array_reserve(&gathered->pieces, gathered->pieces.count + 1);
	piece = &gathered->pieces.list[at];
	rest = *piece;
	rest.address += size;
	rest.size -= size;
	rest.bytes += size;
	piece->size = ep_arena_compact(bytes, size, x->found->root.identity);
	x->pages.arena_size = piece->size;
	if (!rest.size)
		return;
	memmove(piece + 2, piece + 1, (gathered->pieces.count - at - 1) * sizeof(*piece));
	piece[1] = rest;
	gathered->pieces.count++;
}

/* A running process changes its mind: pages are taken first, and those that cannot be read are left
 * out before sizes are written. */
static int gather_pieces(struct extraction *x, struct ep_err *err)
{
	int rc;

	if (x->gathered.source->changing) {
		rc = ep_gathered_read(&x->gathered, x->found, &x->pages.all, err);
		if (rc == EP_OK)
			arena_compact(x);
		return rc;
	}
	ep_gathered_choose(&x->gathered, &x->pages.all);
	return x->options.pages.redact ? ep_gathered_capture(&x->gathered, err) : EP_OK;
}

static void gather_notes(struct extraction *x)
{
	const struct ep_source *source = x->gathered.source;

	if (source->kind == EP_SOURCE_LIVE) {
		ep_process_notes_live(&x->gathered);
		return;
	}
	for (size_t i = 0; i < source->notes.count; i++) {
		const struct ep_note *note = &source->notes.list[i];

		if (!ep_note_is_snapshot(note))
			ep_gathered_note(&x->gathered, note->name, note->type, note->desc,
					 note->desc_size);
	}
}

static int redact(struct extraction *x, struct ep_err *err)
{
	struct ep_redact_options options = {
		.words = x->options.pages.redact,
		.arena = x->found->arena_address,
		.arena_size = x->pages.arena_size,
		.identity = x->found->root.identity,
		.found = x->found,
		.pages = &x->pages,
	};

	return ep_redact(&x->gathered, &options, err);
}

static uint64_t saved(const struct extraction *x, const struct ep_ranges *ranges)
{
	uint64_t size = 0;

	for (size_t i = 0; i < ranges->count; i++)
		size += ep_gathered_within(&x->gathered, ranges->list[i].start,
					   ranges->list[i].end);
	return size;
}

static void own_note_fill(const struct extraction *x, struct ep_snapshot_note *note)
{
	const struct ep_root_found *found = x->found;
	const struct ep_snapshot_note *before = &x->pages.before;

	*note = (struct ep_snapshot_note){
		.major = EP_FORMAT_MAJOR,
		.minor = EP_FORMAT_MINOR,
		.size = sizeof(*note),
		.arena_address = found->arena_address,
		.arena_size = x->pages.arena_size,
		.arena_saved = ep_gathered_within(&x->gathered, found->arena_address,
						  found->arena_address + x->pages.arena_size),
		.root_address = found->root_address,
		.pages_wanted = ep_ranges_size(&x->pages.modules) / EP_PAGE,
		.pages_saved = saved(x, &x->pages.modules) / EP_PAGE,
		.found = found->how,
		.thread_count = (uint32_t)x->pages.thread_count,
		.redacted = x->options.pages.redact | before->redacted,
		.ended = x->options.ended,
		.written = ep_source_kind(x->gathered.source) == EP_SOURCE_CORE
				   ? ep_source_written(x->gathered.source)
				   : 0,
	};
	/* A snapshot of a snapshot says how the first one came to be. */
	if (before->size) {
		note->found = before->found;
		note->taken_tsc = before->taken_tsc;
		note->ended = before->ended;
		note->written = before->written;
	}
	if (x->gathered.source->changing)
		note->taken_tsc = __builtin_ia32_rdtsc();
}

/* ---- what became of it ---- */

static void result_fill(const struct extraction *x, const struct ep_snapshot_note *note,
			struct ep_extract_result *result)
{
	const struct ep_page_options *options = &x->options.pages;

	result->arena_wanted = note->arena_size;
	result->arena_saved = note->arena_saved;
	result->pages_wanted = note->pages_wanted;
	result->pages_saved = note->pages_saved;
	result->threads = x->pages.thread_count;
	if (!options->stack_bytes || options->arena_only)
		return;
	for (size_t i = 0; i < x->pages.thread_count; i++) {
		const struct ep_snapshot_thread *thread = &x->pages.threads[i];

		if (thread->stack_saved == 0)
			result->stacks_missing++;
		else if (thread->stack_saved < thread->stack_wanted)
			result->stacks_cut++;
		else
			result->stacks_whole++;
	}
}

/* Where `fd` is -1 the file is made. */
static int run(struct extraction *x, const char *path, int fd, struct ep_extract_result *result,
	       struct ep_err *err)
{
	struct ep_source *source = x->gathered.source;
	struct ep_snapshot_note note;
	int rc;

	ep_pages_choose(&x->pages, source, x->found, &x->options.pages);
	rc = gather_pieces(x, err);
	if (rc)
		return rc;
	gather_notes(x);
	rc = redact(x, err);
	if (rc)
		return rc;
	own_note_fill(x, &note);
	if (note.arena_saved == 0)
		return ep_fail(err, EP_E_UNSAVED, x->found->arena_address,
			       "%s: nothing of the arena at 0x%" PRIx64 " can be read",
			       source->name, x->found->arena_address);
	ep_gathered_snapshot_note(&x->gathered, &note, x->pages.threads);
	result_fill(x, &note, result);
	if (fd < 0)
		return ep_gathered_save(&x->gathered, path, x->options.force,
					&result->bytes_written, err);
	return ep_gathered_write(&x->gathered, fd, path, &result->bytes_written, err);
}

static int extract(struct ep_source *source, const struct ep_root_found *found, const char *path,
		   int fd, const struct ep_extract_options *options,
		   struct ep_extract_result *result, struct ep_err *err)
{
	struct ep_extract_result own = {0};
	struct extraction x = {.found = found, .gathered = {.source = source}};
	int rc;

	x.options = options ? *options : EP_EXTRACT_DEFAULTS;
	if (x.options.pages.redact & EP_REDACTED_STACKS)
		x.options.pages.stack_bytes = 0;
	rc = run(&x, path, fd, &own, err);
	ep_gathered_deinit(&x.gathered);
	ep_pages_deinit(&x.pages);
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

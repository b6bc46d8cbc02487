/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.c: kept snapshots. What lies in the process's memory is an arena but for its magic: a file
 * of it needs a new magic and CRC and nothing else.
 */
#include "coredump/snapshot/kept.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#include "coredump/snapshot/extract_impl.h"
#include "coredump/files/output.h"
#include "coredump/redact/redact.h"
#include "coredump/memory/ranges.h"
#include "coredump/find/root_impl.h"
#include "coredump/memory/source_impl.h"

/* ---- which there are ---- */

static bool plausible(const struct ep_kept *kept)
{
	uint64_t end;

	return kept->number && kept->address && kept->size && kept->address % EP_PAGE == 0 &&
	       kept->size % EP_PAGE == 0 &&
	       !__builtin_add_overflow(kept->address, kept->size, &end);
}

static int compare_numbers(const void *a, const void *b)
{
	const struct ep_kept_found *x = a, *y = b;

	return (x->kept.number > y->kept.number) - (x->kept.number < y->kept.number);
}

/* The table's place in the arena; false: there is none. */
static bool find_table(struct ep_source *source, const struct ep_root_found *found,
		       struct ep_section *out)
{
	struct ep_arena arena;
	uint32_t count;

	if (ep_source_read(source, found->arena_address, &arena, sizeof(arena), NULL, NULL) !=
		    EP_OK ||
	    arena.root.identity != found->root.identity)
		return false;
	count = arena.section_count < EP_SECTION_MAX ? arena.section_count : EP_SECTION_MAX;
	for (uint32_t i = 0; i < count; i++) {
		const struct ep_section *section = &arena.sections[i];

		if (section->type != EP_SECTION_KEPT ||
		    section->entry_size < sizeof(struct ep_kept) ||
		    section->offset > found->root.arena_size ||
		    section->size > found->root.arena_size - section->offset)
			continue;
		*out = *section;
		return true;
	}
	return false;
}

static int take_entry(struct ep_kept_list *list, struct ep_source *source, uint64_t address,
		      size_t *capacity, struct ep_err *err)
{
	struct ep_kept kept;

	if (ep_source_read(source, address, &kept, sizeof(kept), NULL, NULL) ||
	    kept.state != EP_KEPT_VALID)
		return EP_OK;
	if (!plausible(&kept)) {
		list->corrupt++;
		return EP_OK;
	}
	if (!ep_list_grow(&list->list, list->count, capacity, sizeof(*list->list)))
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	list->list[list->count++] = (struct ep_kept_found){
		kept,
		ep_range_present(source, kept.address, kept.address + kept.size),
	};
	return EP_OK;
}

int ep_kept_list(struct ep_kept_list *out, struct ep_source *source,
		 const struct ep_root_found *found, struct ep_err *err)
{
	struct ep_section section;
	size_t capacity = 0;
	int rc = EP_OK;

	memset(out, 0, sizeof(*out));
	if (!find_table(source, found, &section))
		return EP_OK;
	for (uint64_t i = 0; i < EP_KEPT_MAX && i < section.size / section.entry_size && !rc; i++)
		rc = take_entry(out, source,
				found->arena_address + section.offset + i * section.entry_size,
				&capacity, err);
	if (rc)
		ep_kept_list_deinit(out);
	else if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), compare_numbers);
	return rc;
}

void ep_kept_list_deinit(struct ep_kept_list *list)
{
	free(list->list);
	memset(list, 0, sizeof(*list));
}

const struct ep_kept_found *ep_kept_at(const struct ep_kept_list *list, uint64_t number)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->list[i].kept.number == number)
			return &list->list[i];
	return NULL;
}

/* ---- a file of one ---- */

struct copy {
	const struct ep_kept *kept;
	uint8_t *bytes; /* kept->size; owned */
	struct ep_elfcore_piece *pieces;
	size_t piece_count, piece_capacity;
	uint64_t saved;
};

static int piece_add(struct copy *copy, uint64_t at, uint64_t size, struct ep_err *err)
{
	if (size == 0)
		return EP_OK;
	if (!ep_list_grow(&copy->pieces, copy->piece_count, &copy->piece_capacity,
			  sizeof(*copy->pieces)))
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	copy->pieces[copy->piece_count++] = (struct ep_elfcore_piece){
		copy->kept->address + at, size, PF_R | PF_W, copy->bytes + at};
	copy->saved += size;
	return EP_OK;
}

/* Its pages as far as they can be read. */
static int copy_read(struct copy *copy, struct ep_source *source, struct ep_err *err)
{
	uint64_t size = copy->kept->size, at = 0;
	int rc = EP_OK;

	copy->bytes = malloc(size);
	if (!copy->bytes)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory for %" PRIu64 " bytes", size);
	while (at < size && rc == EP_OK) {
		size_t got;

		rc = ep_source_read(source, copy->kept->address + at, copy->bytes + at, size - at,
				    &got, err);
		if (rc == EP_E_IO || rc == EP_E_MEMORY)
			return rc;
		got = rc ? got & ~(size_t)(EP_PAGE - 1) : got;
		rc = piece_add(copy, at, got, err);
		at += got + (got < size - at ? EP_PAGE : 0);
	}
	return rc;
}

/* From what the process keeps to what everybody reads. */
static int make_arena(struct copy *copy, struct ep_source *source, struct ep_err *err)
{
	uint64_t address = copy->kept->address;
	struct ep_root root;
	int rc = EP_E_UNSAVED;

	if (copy->piece_count && copy->pieces[0].address == address) {
		memcpy(&root, copy->bytes, sizeof(root));
		rc = ep_root_check(&root, EP_KEPT_MAGIC, address, err);
	}
	if (rc == EP_E_UNSAVED)
		return ep_fail(err, EP_E_UNSAVED, address,
			       "%s: the first page of kept snapshot %" PRIu64 " was not saved",
			       ep_source_name(source), copy->kept->number);
	if (rc == EP_E_VERSION)
		return rc;
	if (rc)
		return ep_fail(err, EP_E_CORRUPT, address,
			       "%s: the first page of kept snapshot %" PRIu64 " is damaged",
			       ep_source_name(source), copy->kept->number);
	memcpy(root.magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE);
	root.crc = ep_crc32(&root, offsetof(struct ep_root, crc));
	memcpy(copy->bytes, &root, sizeof(root));
	return EP_OK;
}

/* Registers are those of no moment: zero, which readers take for unknown. */
struct own_notes {
	struct elf_prstatus status;
	elf_fpregset_t floating;
	struct ep_snapshot_note snapshot;
	struct ep_snapshot_thread thread; /* follows it in the file */
};
static_assert(offsetof(struct own_notes, thread) - offsetof(struct own_notes, snapshot) ==
		      sizeof(struct ep_snapshot_note),
	      "one note");

static void own_notes_fill(struct own_notes *notes, const struct copy *copy, uint32_t redacted)
{
	const struct ep_kept *kept = copy->kept;

	memset(notes, 0, sizeof(*notes));
	notes->status.pr_pid = (pid_t)kept->tid;
	notes->snapshot = (struct ep_snapshot_note){
		.major = EP_FORMAT_MAJOR,
		.minor = EP_FORMAT_MINOR,
		.size = sizeof(notes->snapshot),
		.arena_address = kept->address,
		.arena_size = kept->size,
		.arena_saved = copy->saved,
		.taken_tsc = kept->tsc,
		.found = EP_FOUND_KEPT,
		.thread_count = 1,
		.redacted = redacted,
	};
	notes->thread.tid = kept->tid;
}

/* Those of the process, not of its threads: what mapped which file may have changed since, but the
 * kept arena has a load map of its own. */
static int process_notes(struct ep_extraction *x, const struct own_notes *own, struct ep_err *err)
{
	size_t count;
	const struct ep_note *list = ep_source_notes(x->source, &count);
	int rc;

	if (ep_source_kind(x->source) == EP_SOURCE_LIVE)
		return ep_extract_live_notes(x, err);
	rc = ep_extract_note(x, "CORE", NT_PRSTATUS, &own->status, sizeof(own->status), err);
	rc = rc ? rc
		: ep_extract_note(x, "CORE", NT_FPREGSET, &own->floating, sizeof(own->floating),
				  err);
	for (size_t i = 0; i < count && rc == EP_OK; i++) {
		const struct ep_note *note = &list[i];

		if (strcmp(note->name, "CORE") == 0 &&
		    (note->type == NT_PRPSINFO || note->type == NT_AUXV || note->type == NT_FILE))
			rc = ep_extract_note(x, note->name, note->type, note->desc, note->desc_size,
					     err);
	}
	return rc;
}

static int file_write(const struct ep_elfcore *core, struct ep_source *source, const char *path,
		      bool force, uint64_t *written, struct ep_err *err)
{
	struct ep_output output;
	int rc = ep_source_spare(source, path, err);

	rc = rc ? rc : ep_output_open(&output, path, force, err);

	if (rc)
		return rc;
	rc = ep_elfcore_write(core, source, output.fd, output.path, written, err);
	if (rc == EP_OK)
		return ep_output_commit(&output, err);
	ep_output_abandon(&output);
	return rc;
}

static int copy_write(const struct copy *copy, struct ep_source *source, const char *path,
		      const struct ep_extract_options *options, uint64_t *written,
		      struct ep_err *err)
{
	struct ep_extraction x = {.source = source,
				  .options = *options,
				  .pieces = copy->pieces,
				  .piece_count = copy->piece_count};
	struct own_notes own;
	struct ep_root root;
	int rc;

	memcpy(&root, copy->bytes, sizeof(root));
	own_notes_fill(&own, copy, options->redact | ep_source_redacted(source));
	rc = process_notes(&x, &own, err);
	rc = rc ? rc : ep_redact(&x, copy->kept->address, copy->kept->size, root.identity, err);
	rc = rc ? rc
		: ep_extract_note(&x, EP_NOTE_NAME, EP_NOTE_SNAPSHOT, &own.snapshot,
				  sizeof(own.snapshot) + sizeof(own.thread), err);
	if (rc == EP_OK) {
		struct ep_elfcore core = {x.notes, x.note_count, copy->pieces, copy->piece_count};

		rc = file_write(&core, source, path, options->force, written, err);
	}
	ep_extract_deinit_notes(&x);
	return rc;
}

/* A running process may give back what is being read, and reuse the memory. */
static int still_kept(struct ep_source *source, const struct ep_root_found *found,
		      const struct ep_kept *kept, struct ep_err *err)
{
	struct ep_kept_list now;
	bool there;
	int rc = ep_kept_list(&now, source, found, err);

	if (rc)
		return rc;
	there = ep_kept_at(&now, kept->number) != NULL;
	ep_kept_list_deinit(&now);
	return there ? EP_OK
		     : ep_fail(err, EP_END, 0,
			       "%s: kept snapshot %" PRIu64
			       " was given back by the process while it was "
			       "read",
			       ep_source_name(source), kept->number);
}

int ep_kept_extract(struct ep_source *source, const struct ep_root_found *found,
		    const struct ep_kept_found *which, const char *path,
		    const struct ep_extract_options *options, struct ep_kept_result *result,
		    struct ep_err *err)
{
	struct copy copy = {.kept = &which->kept};
	uint64_t written = 0;
	int rc = EP_E_UNSAVED;

	if (which->present < which->kept.size / 2)
		ep_err_set(err, rc, which->kept.address,
			   "%s: most of kept snapshot %" PRIu64 " was not saved",
			   ep_source_name(source), which->kept.number);
	else
		rc = copy_read(&copy, source, err);
	rc = rc ? rc : make_arena(&copy, source, err);
	rc = rc ? rc : still_kept(source, found, copy.kept, err);
	rc = rc ? rc : copy_write(&copy, source, path, options, &written, err);
	if (rc == EP_OK)
		*result = (struct ep_kept_result){written, copy.kept->size, copy.saved};
	free(copy.bytes);
	free(copy.pieces);
	return rc;
}

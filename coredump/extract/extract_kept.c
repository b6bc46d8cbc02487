/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * extract_kept.c: what lies in the process's memory is an arena but for its magic: a file of it
 * needs a new magic and CRC and nothing else.
 */
#include "coredump/extract/extract_kept.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "coredump/find/root_check.h"
#include "coredump/memory/source_impl.h"
#include "coredump/redact/redact.h"
#include "coredump/snapshot/gathered.h"
#include "coredump/snapshot/process_notes.h"
#include "coredump/snapshot/redacted.h"

/* Its pages as far as they can be read. */
static int arena_read(struct ep_gathered *gathered, const struct ep_root_found *found,
		      const struct ep_kept *kept, struct ep_err *err)
{
	struct ep_ranges pages = {0};
	int rc;

	ep_ranges_add(&pages, kept->address, kept->size);
	rc = ep_gathered_read(gathered, found, &pages, err);
	ep_ranges_deinit(&pages);
	return rc;
}

/* From what the process keeps to what everybody reads. */
static int arena_make(struct ep_gathered *gathered, const struct ep_kept *kept, uint64_t *identity,
		      struct ep_err *err)
{
	const char *source = ep_source_name(gathered->source);
	uint8_t *bytes = ep_gathered_at(gathered, kept->address, sizeof(struct ep_root));
	struct ep_root root;
	int rc;

	if (!bytes)
		return ep_fail(err, EP_E_UNSAVED, kept->address,
			       "%s: the first page of kept snapshot %" PRIu64 " was not saved",
			       source, kept->number);
	memcpy(&root, bytes, sizeof(root));
	rc = ep_root_check(&root, EP_KEPT_MAGIC, kept->address, err);
	if (rc == EP_E_VERSION)
		return rc;
	if (rc)
		return ep_fail(err, EP_E_CORRUPT, kept->address,
			       "%s: the first page of kept snapshot %" PRIu64 " is damaged", source,
			       kept->number);
	memcpy(root.magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE);
	root.crc = ep_crc32(&root, offsetof(struct ep_root, crc));
	memcpy(bytes, &root, sizeof(root));
	*identity = root.identity;
	return EP_OK;
}

/* Those of the process, not of its threads: what mapped which file may have changed since, but the
 * kept arena has a load map of its own. */
static void process_notes(struct ep_gathered *gathered, const struct ep_kept *kept)
{
	size_t count;
	const struct ep_note *list = ep_source_notes(gathered->source, &count);

	if (ep_source_kind(gathered->source) == EP_SOURCE_LIVE) {
		ep_process_notes_live(gathered);
		return;
	}
	/* Registers are those of no moment. */
	ep_process_notes_thread(gathered, kept->tid);
	for (size_t i = 0; i < count; i++) {
		const struct ep_note *note = &list[i];

		if (strcmp(note->name, "CORE") == 0 &&
		    (note->type == NT_PRPSINFO || note->type == NT_AUXV || note->type == NT_FILE))
			ep_gathered_note(gathered, note->name, note->type, note->desc,
					 note->desc_size);
	}
}

static void own_note(struct ep_gathered *gathered, const struct ep_kept *kept, uint32_t redacted)
{
	struct ep_snapshot_note head = {
		.major = EP_FORMAT_MAJOR,
		.minor = EP_FORMAT_MINOR,
		.size = sizeof(head),
		.arena_address = kept->address,
		.arena_size = kept->size,
		.arena_saved =
			ep_gathered_within(gathered, kept->address, kept->address + kept->size),
		.taken_tsc = kept->tsc,
		.found = EP_FOUND_KEPT,
		.thread_count = 1,
		.redacted = redacted,
	};
	struct ep_snapshot_thread thread = {.tid = kept->tid};

	ep_gathered_snapshot_note(gathered, &head, &thread);
}

/* A running process may give back what is being read, and reuse the memory. */
static int still_kept(struct ep_source *source, const struct ep_root_found *found,
		      const struct ep_kept *kept, struct ep_err *err)
{
	struct ep_kept_list now;
	bool there;

	ep_kept_list(&now, source, found);
	there = ep_kept_at(&now, kept->number) != NULL;
	ep_kept_list_deinit(&now);
	return there ? EP_OK
		     : ep_fail(err, EP_END, 0,
			       "%s: kept snapshot %" PRIu64
			       " was given back by the process while it was read",
			       ep_source_name(source), kept->number);
}

static int extract(struct ep_gathered *gathered, const struct ep_root_found *found,
		   const struct ep_kept *kept, const char *path,
		   const struct ep_extract_options *options, struct ep_kept_result *result,
		   struct ep_err *err)
{
	struct ep_redact_options redact = {
		.words = options->pages.redact,
		.arena = kept->address,
		.arena_size = kept->size,
	};
	int rc = arena_read(gathered, found, kept, err);

	for (size_t i = 0; i < gathered->pieces.count; i++)
		gathered->pieces.list[i].flags = PF_R | PF_W;
	rc = rc ? rc : arena_make(gathered, kept, &redact.identity, err);
	rc = rc ? rc : still_kept(gathered->source, found, kept, err);
	if (rc)
		return rc;
	process_notes(gathered, kept);
	rc = ep_redact(gathered, &redact, err);
	if (rc)
		return rc;
	own_note(gathered, kept, redact.words | ep_source_redacted(gathered->source));
	result->wanted = kept->size;
	result->saved = ep_gathered_within(gathered, kept->address, kept->address + kept->size);
	return ep_gathered_save(gathered, path, options->force, &result->bytes_written, err);
}

int ep_kept_extract(struct ep_source *source, const struct ep_root_found *found,
		    const struct ep_kept_found *which, const char *path,
		    const struct ep_extract_options *options, struct ep_kept_result *result,
		    struct ep_err *err)
{
	struct ep_gathered gathered = {.source = source};
	struct ep_kept_result own;
	int rc;

	if (which->present < which->kept.size / 2)
		return ep_fail(err, EP_E_UNSAVED, which->kept.address,
			       "%s: most of kept snapshot %" PRIu64 " was not saved",
			       ep_source_name(source), which->kept.number);
	rc = extract(&gathered, found, &which->kept, path, options, &own, err);
	ep_gathered_deinit(&gathered);
	if (rc == EP_OK)
		*result = own;
	return rc;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * root.c: finds the arena, cheapest way first. No way is trusted: whatever it points to must carry
 * the magic, a CRC that fits and its own address, so a wrong file or a copy in some buffer cannot
 * mislead.
 */
#include "coredump/find/root_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coredump/find/backing.h"
#include "coredump/util/alloc.h"
#include "coredump/util/cursor.h"
#include "coredump/memory/elfimage.h"
#include "coredump/memory/source_impl.h"

#define NOTES_MAX (64u << 10) /* bytes of one PT_NOTE: usual is 0.2 KiB */
/* A root that moves under our hands (a fork, a stop) is read again. */
#define LIVE_TRIES 8
/* Nothing of ours lies in a mapping of this size; sanitizers' shadows do. */
#define LIVE_SCAN_MAX (UINT64_C(16) << 30)
#define SCAN_CHUNK    (1u << 20)
/* ns of a processor: its own mappings are any number, of any size. */
#define LIVE_SEARCH UINT64_C(1000000000)

const char *ep_found_text(uint32_t how)
{
	switch (how) {
	case EP_FOUND_SEGMENT:
		return "magic at the start of a segment";
	case EP_FOUND_NOTE:
		return "note in an executable or shared library";
	case EP_FOUND_SYMBOL:
		return "symbol epitaph_root";
	case EP_FOUND_SCAN:
		return "scan of the memory that was saved";
	case EP_FOUND_SNAPSHOT:
		return "note of a snapshot";
	case EP_FOUND_SELF:
		return "written by the process itself";
	case EP_FOUND_KEPT:
		return "kept by the process in its memory";
	case EP_FOUND_FILE:
		return "file of EPITAPH_FILE";
	case EP_FOUND_CRASH:
		return "written by the process while it died";
	}
	return "unknown way";
}

const char *ep_off_text(uint32_t reason)
{
	switch (reason) {
	case EP_OFF_NONE:
		return "it had not started yet";
	case EP_OFF_NO_MEMORY:
		return "no memory could be mapped for the arena";
	case EP_OFF_ADDRESS:
		return "code lies above 2^47 (5-level page tables)";
	case EP_OFF_OTHER_RUNTIME:
		return "another runtime in the process came first";
	case EP_OFF_OVERWRITTEN:
		return "the program wrote over the memory that holds the trace";
	case EP_OFF_NO_TSC:
		return "the program gave up reading the processor's time";
	case EP_OFF_MAPPED_OVER:
		return "the program mapped something of its own where the trace was";
	}
	return "of a reason that this version does not know";
}

/* ---- how long ---- */

static uint64_t processor_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

bool ep_root_search_over(struct ep_root_search *search)
{
	if (search->source->kind != EP_SOURCE_LIVE)
		return false;
	if (!search->until)
		search->until = processor_time() + LIVE_SEARCH;
	search->cut |= processor_time() > search->until;
	return search->cut;
}

/* ---- one candidate ---- */

static int root_read(struct ep_source *source, uint64_t address, const char *magic,
		     struct ep_root *out, struct ep_err *err)
{
	int tries = source->kind == EP_SOURCE_LIVE ? LIVE_TRIES : 1, rc;

	do {
		rc = ep_source_read(source, address, out, sizeof(*out), NULL, err);
		if (rc == EP_OK)
			rc = ep_root_check(out, magic, address, err);
	} while (rc == EP_E_CORRUPT && --tries > 0);
	return rc;
}

/* Which of two disappointments tells the user more. */
static int telling(int rc)
{
	static const int order[] = {EP_E_CORRUPT, EP_END, EP_E_UNSAVED, EP_E_TRUNCATED,
				    EP_E_VERSION};

	for (int i = 0; i < 5; i++)
		if (order[i] == rc)
			return i + 1;
	return 0;
}

static void remember(struct ep_root_search *search, int rc, const struct ep_root_found *seen,
		     const struct ep_err *err)
{
	if (telling(rc) <= telling(search->seen_rc))
		return;
	search->seen_rc = rc;
	search->seen = *seen;
	search->seen_err = *err;
}

static bool arena_is_there(struct ep_source *source, const struct ep_root *root, int *why)
{
	uint64_t at = root->arena_address, end = at + root->arena_size;
	struct ep_err ignored;
	uint8_t byte;

	*why = EP_E_UNMAPPED;
	while (at < end) {
		const struct ep_segment *segment = ep_source_segment_at(source, at);
		int rc = ep_source_read(source, at, &byte, 1, NULL, &ignored);

		if (rc == EP_OK)
			return true;
		if (rc != EP_E_UNMAPPED && *why != EP_E_TRUNCATED)
			*why = rc;
		if (!segment || segment->memory_size >= end - segment->address)
			break;
		at = segment->address + segment->memory_size;
	}
	return false;
}

/* The words for a root whose arena is not there. */
static int arena_missing(struct ep_root_search *search, int why, struct ep_err *err)
{
	const struct ep_root *root = &search->found.root;
	const char *name = search->source->name;

	if (why == EP_E_TRUNCATED)
		return ep_fail(err, EP_E_TRUNCATED, root->arena_address,
			       "%s: the program was traced, but the core is truncated before the "
			       "trace (arena at 0x%" PRIx64
			       "): raise ulimit -c or make room on the disk",
			       name, root->arena_address);
	if (root->file_inode && search->source->kind == EP_SOURCE_CORE)
		return ep_fail(err, EP_E_UNSAVED, root->arena_address,
			       "%s: the program was traced, and its trace lay in the file of "
			       "EPITAPH_FILE (inode %" PRIu64
			       "), which is not there any more under that name; if you have it, "
			       "name it instead of the core",
			       name, root->file_inode);
	if (search->source->kind == EP_SOURCE_LIVE)
		return ep_fail(err, EP_E_UNSAVED, root->arena_address,
			       "%s: the program is traced, but its arena at 0x%" PRIx64
			       " cannot be read",
			       name, root->arena_address);
	return ep_fail(err, EP_E_UNSAVED, root->arena_address,
		       "%s: the program was traced, but its trace (arena at 0x%" PRIx64
		       ") was not saved in the core: private anonymous memory must be in it, bit 0 "
		       "of /proc/PID/coredump_filter (default 0x33)",
		       name, root->arena_address);
}

/* search->found.root is a good root of the runtime: on to its arena. */
static int root_follow(struct ep_root_search *search)
{
	struct ep_root_found *found = &search->found;
	struct ep_err err;
	struct ep_root copy;
	int why;

	found->arena_address = found->root.arena_address;
	if (found->arena_address == 0) {
		ep_err_set(&err, EP_END, found->root_address,
			   "%s: the program has the runtime (%s), but was not traced: %s",
			   search->source->name, found->where, ep_off_text(found->root.off_reason));
		remember(search, EP_END, found, &err);
		return EP_END;
	}
	if (root_read(search->source, found->arena_address, EP_ARENA_MAGIC, &copy, &err) == EP_OK) {
		found->root = copy;
		return EP_OK;
	}
	if (arena_is_there(search->source, &found->root, &why))
		return EP_OK;
	if (ep_backing_follow(search->source, found->root_address, &found->root) == EP_OK &&
	    root_read(search->source, found->arena_address, EP_ARENA_MAGIC, &copy, &err) == EP_OK) {
		found->root = copy;
		found->how = EP_FOUND_FILE;
		return EP_OK;
	}
	why = arena_missing(search, why, &err);
	remember(search, why, found, &err);
	return EP_END;
}

static void found_fill(struct ep_root_found *found, uint64_t root_address, uint64_t arena_address,
		       uint32_t how, const char *where)
{
	found->root_address = root_address;
	found->arena_address = arena_address;
	found->how = how;
	snprintf(found->where, sizeof(found->where), "%s", where);
}

int ep_root_try_root(struct ep_root_search *search, uint64_t address, uint32_t how,
		     const char *where)
{
	struct ep_err err = {0};
	int rc = root_read(search->source, address, EP_ROOT_MAGIC, &search->found.root, &err);

	found_fill(&search->found, address, 0, how, where);
	if (rc == EP_OK)
		return root_follow(search);
	if (rc == EP_E_VERSION || rc == EP_E_CORRUPT) {
		ep_err_prefix(&err, "%s", search->source->name);
		remember(search, rc, &search->found, &err);
	}
	return EP_END;
}

int ep_root_try_arena(struct ep_root_search *search, uint64_t address, uint32_t how,
		      const char *where)
{
	struct ep_err err = {0};
	int rc = root_read(search->source, address, EP_ARENA_MAGIC, &search->found.root, &err);

	found_fill(&search->found, 0, address, how, where);
	if (rc == EP_OK)
		return EP_OK;
	if (rc == EP_E_VERSION || rc == EP_E_CORRUPT) {
		ep_err_prefix(&err, "%s", search->source->name);
		remember(search, rc, &search->found, &err);
	}
	return EP_END;
}

/* ---- by the snapshot's note ---- */

static int by_snapshot(struct ep_root_search *search)
{
	struct ep_source *source = search->source;
	struct ep_snapshot_note head;
	size_t next = 0;

	while (ep_source_snapshot_note(source, &next, &head)) {
		if (head.major == EP_FORMAT_MAJOR &&
		    ep_root_try_arena(search, head.arena_address, EP_FOUND_SNAPSHOT,
				      "note of the snapshot") == EP_OK) {
			search->found.root_address = head.root_address;
			return EP_OK;
		}
		if (head.major == EP_FORMAT_MAJOR && head.root_address &&
		    ep_root_try_root(search, head.root_address, EP_FOUND_SNAPSHOT,
				     "note of the snapshot") == EP_OK)
			return EP_OK;
	}
	return EP_END;
}

/* ---- by magic at the start of a segment ---- */

static uint32_t how_by_segment(const struct ep_source *source)
{
	return source->kind == EP_SOURCE_ARENA ? EP_FOUND_FILE : EP_FOUND_SEGMENT;
}

/* Of two arenas the one of this very process is meant: the other came with memory that it
 * shares. */
static int by_segment(struct ep_root_search *search)
{
	struct ep_source *source = search->source;
	struct ep_root_found best = {0};

	for (size_t i = 0; i < source->segments.count; i++) {
		const struct ep_segment *segment = &source->segments.list[i];
		char where[64];

		if (segment->present_size < sizeof(struct ep_root) || !(segment->flags & PF_R))
			continue;
		snprintf(where, sizeof(where), "%s at 0x%" PRIx64,
			 source->kind == EP_SOURCE_LIVE    ? "mapping"
			 : source->kind == EP_SOURCE_ARENA ? "mapped"
							   : "PT_LOAD",
			 segment->address);
		if (source->kind == EP_SOURCE_FUNTRACE)
			snprintf(where, sizeof(where), "made from a funtrace.raw");
		if (ep_root_try_arena(search, segment->address, how_by_segment(source), where))
			continue;
		if (best.how == 0)
			best = search->found;
		if (search->found.root.pid == (uint32_t)source->pid)
			return EP_OK;
	}
	if (best.how == 0)
		return EP_END;
	search->found = best;
	return EP_OK;
}

/* ---- by ELF notes in memory ---- */

static uint64_t padded(uint64_t size)
{
	return (size + 3) & ~UINT64_C(3);
}

/* EP_OK: *desc is where a note of ours has its descriptor. EP_END: no more. */
static int note_next(struct ep_cursor *cursor, size_t *desc, struct ep_root_note *out)
{
	const uint8_t *name;
	uint32_t head[3];

	while (ep_cursor_take(cursor, head, sizeof(head)) == EP_OK) {
		if (ep_cursor_view(cursor, &name, padded(head[0])))
			return EP_END;
		*desc = ep_cursor_offset(cursor);
		if (head[2] == EP_NOTE_ROOT && head[0] == sizeof(EP_NOTE_NAME) &&
		    memcmp(name, EP_NOTE_NAME, sizeof(EP_NOTE_NAME)) == 0 &&
		    head[1] >= sizeof(*out))
			return ep_cursor_take(cursor, out, sizeof(*out)) ? EP_END : EP_OK;
		if (ep_cursor_skip(cursor, padded(head[1])))
			return EP_END;
	}
	return EP_END;
}

int ep_root_try_notes(struct ep_root_search *search, const uint8_t *bytes, size_t size,
		      uint64_t address, const char *object)
{
	struct ep_root_note note;
	struct ep_cursor cursor;
	char where[256];
	size_t desc;

	snprintf(where, sizeof(where), "note in %s", object);
	ep_cursor_init(&cursor, bytes, size);
	while (note_next(&cursor, &desc, &note) == EP_OK) {
		snprintf(search->traced_by, sizeof(search->traced_by), "%s", object);
		if (ep_root_try_root(search, address + desc + (uint64_t)note.root_offset,
				     EP_FOUND_NOTE, where) == EP_OK)
			return EP_OK;
	}
	return EP_END;
}

static int notes_of_object(struct ep_root_search *search, uint64_t start, const char *object)
{
	struct ep_elf_image image;
	struct ep_err ignored;
	uint8_t *bytes;
	int rc = EP_END;

	if (ep_elf_image_read(&image, search->source, start, &ignored))
		return EP_END;
	bytes = ep_malloc(NOTES_MAX);
	for (uint32_t i = 0; i < image.count && rc; i++) {
		const Elf64_Phdr *header = &image.headers[i];
		size_t size = header->p_memsz < NOTES_MAX ? header->p_memsz : NOTES_MAX;
		size_t got;

		if (header->p_type != PT_NOTE)
			continue;
		ep_source_read(search->source, image.bias + header->p_vaddr, bytes, size, &got,
			       &ignored);
		rc = ep_root_try_notes(search, bytes, got, image.bias + header->p_vaddr, object);
	}
	free(bytes);
	return rc;
}

/* Objects by the list of mapped files; by segments where there is no list. */
static int by_notes(struct ep_root_search *search)
{
	struct ep_source *source = search->source;

	for (size_t i = 0; i < source->mappings.count && !ep_root_search_over(search); i++)
		if (source->mappings.list[i].file_offset == 0 &&
		    notes_of_object(search, source->mappings.list[i].start,
				    source->mappings.list[i].path) == EP_OK)
			return EP_OK;
	for (size_t i = 0; !source->mappings.count && i < source->segments.count; i++) {
		char object[64];

		snprintf(object, sizeof(object), "the object at 0x%" PRIx64,
			 source->segments.list[i].address);
		if (notes_of_object(search, source->segments.list[i].address, object) == EP_OK)
			return EP_OK;
	}
	return EP_END;
}

/* ---- by scan ---- */

static int scan_chunk(struct ep_root_search *search, const uint8_t *bytes, size_t size,
		      uint64_t address)
{
	uint64_t root_magic, arena_magic;

	memcpy(&root_magic, EP_ROOT_MAGIC, 8);
	memcpy(&arena_magic, EP_ARENA_MAGIC, 8);
	for (size_t at = 0; at + 8 <= size; at += 8) {
		uint64_t word;
		char where[64];

		memcpy(&word, bytes + at, 8);
		if (word != root_magic && word != arena_magic)
			continue;
		snprintf(where, sizeof(where), "memory at 0x%" PRIx64, address + at);
		if (word == arena_magic &&
		    ep_root_try_arena(search, address + at, EP_FOUND_SCAN, where) == EP_OK)
			return EP_OK;
		if (word == root_magic &&
		    ep_root_try_root(search, address + at, EP_FOUND_SCAN, where) == EP_OK)
			return EP_OK;
	}
	return EP_END;
}

static int scan_segment(struct ep_root_search *search, const struct ep_segment *segment,
			uint8_t *buffer)
{
	struct ep_source *source = search->source;
	uint64_t at = (segment->address + 7) & ~UINT64_C(7);
	uint64_t end = segment->address + segment->present_size;
	struct ep_err ignored;

	while (at < end && !ep_root_search_over(search)) {
		size_t size, got;

		at = ep_source_next_data(source, at, end) & ~UINT64_C(7);
		if (at >= end)
			break;
		size = end - at < SCAN_CHUNK ? end - at : SCAN_CHUNK;
		ep_source_read(source, at, buffer, size, &got, &ignored);
		if (scan_chunk(search, buffer, got, at) == EP_OK)
			return EP_OK;
		/* A page of a live process may be unreadable: go around. */
		at = got == size ? at + size : (at + got + EP_PAGE) & ~(uint64_t)(EP_PAGE - 1);
	}
	return EP_END;
}

static int by_scan(struct ep_root_search *search)
{
	struct ep_source *source = search->source;
	bool live = source->kind == EP_SOURCE_LIVE;
	uint8_t *buffer = ep_malloc(SCAN_CHUNK);
	int rc = EP_END;

	for (size_t i = 0; rc && i < source->segments.count && !ep_root_search_over(search); i++) {
		const struct ep_segment *segment = &source->segments.list[i];

		if (live && (!(segment->flags & PF_R) || segment->present_size > LIVE_SCAN_MAX))
			continue;
		rc = scan_segment(search, segment, buffer);
	}
	free(buffer);
	return rc;
}

/* ---- all ways ---- */

static uint64_t bytes_cut(const struct ep_source *source)
{
	uint64_t cut = 0;

	for (size_t i = 0; i < source->segments.count; i++)
		cut += source->segments.list[i].saved_size - source->segments.list[i].present_size;
	return cut;
}

/* No root was seen at all: why, as far as it can be told. */
static int nothing_found(struct ep_root_search *search, struct ep_err *err)
{
	const struct ep_source *source = search->source;
	uint64_t cut = bytes_cut(source);

	if (search->traced_by[0] && cut)
		return ep_fail(
			err, EP_E_TRUNCATED, source->file_size,
			"%s: the program was traced (%s holds the runtime), but the core is "
			"truncated before the trace: raise ulimit -c or make room on the disk",
			source->name, search->traced_by);
	if (search->traced_by[0])
		return ep_fail(
			err, EP_E_UNSAVED, 0,
			"%s: the program was traced (%s holds the runtime), but the core does not "
			"hold its data: check /proc/PID/coredump_filter (default 0x33)",
			source->name, search->traced_by);
	if (cut)
		return ep_fail(err, EP_END, source->file_size,
			       "%s: no trace in what is left; the core is truncated, %" PRIu64
			       " bytes of memory are missing, so it may have been cut off",
			       source->name, cut);
	if (search->cut)
		return ep_fail(
			err, EP_END, 0,
			"%s: no trace in what a second of a processor was enough to look at; "
			"it has more memory, or more mapped files",
			source->name);
	return ep_fail(err, EP_END, 0,
		       "%s: no trace: the program was not built with epitaph-cc, nor run with the "
		       "runtime preloaded%s",
		       source->name,
		       source->kind == EP_SOURCE_LIVE
			       ? ""
			       : " (or its core holds no data: coredump_filter)");
}

/* The arena was found without the root: a snapshot wants its page too. */
static void root_address_look(struct ep_root_search *search)
{
	struct ep_root_search other = {.source = search->source};

	if (search->found.root_address == 0 && by_notes(&other) == EP_OK &&
	    other.found.arena_address == search->found.arena_address)
		search->found.root_address = other.found.root_address;
}

/* The arena's copy may have been made before tracing ended. */
static void off_reason_look(struct ep_root_search *search)
{
	struct ep_root_found *found = &search->found;
	struct ep_err ignored;
	struct ep_root root;

	if (found->root_address &&
	    root_read(search->source, found->root_address, EP_ROOT_MAGIC, &root, &ignored) ==
		    EP_OK &&
	    root.identity == found->root.identity)
		found->off_reason = root.off_reason;
}

int ep_root_find(struct ep_source *source, struct ep_root_found *out, struct ep_err *err)
{
	static int (*const ways[])(struct ep_root_search *) = {by_snapshot, by_segment, by_notes,
							       ep_root_by_files, by_scan};
	struct ep_root_search search = {.source = source};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (ways[i](&search))
			continue;
		root_address_look(&search);
		off_reason_look(&search);
		*out = search.found;
		return EP_OK;
	}
	memset(out, 0, sizeof(*out));
	if (search.seen_rc == 0)
		return nothing_found(&search, err);
	if (search.seen_rc == EP_E_UNSAVED || search.seen_rc == EP_E_TRUNCATED)
		*out = search.seen;
	if (err)
		*err = search.seen_err;
	return search.seen_rc;
}

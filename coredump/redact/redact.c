/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redact.c: what is left out of a snapshot. Whatever is not known to be needed goes too: bytes
 * beside a structure in its page, sections and notes of kinds that are unknown here.
 */
#include "coredump/redact/redact.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

#include "coredump/memory/source_impl.h"
#include "coredump/redact/redact_impl.h"
#include "coredump/snapshot/kept.h"
#include "coredump/util/alloc.h"

/* ---- memory that is not the arena's ---- */

static int compare_ranges(const void *a, const void *b)
{
	const struct ep_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Pages are saved whole; what else lies in them than the `count` ranges is nobody's business. */
static void wipe_beside(struct ep_gathered *gathered, const struct ep_ranges *pages,
			const struct ep_range *wanted, size_t count)
{
	uint64_t kept = 0;
	size_t at = 0;

	for (size_t i = 0; i < pages->count; i++) {
		uint64_t end = pages->list[i].end;

		if (pages->list[i].start > kept)
			kept = pages->list[i].start;
		for (; at < count && wanted[at].start < end; at++) {
			if (wanted[at].start > kept)
				ep_gathered_wipe(gathered, kept, wanted[at].start - kept);
			if (wanted[at].end > kept)
				kept = wanted[at].end;
		}
		if (kept < end) {
			ep_gathered_wipe(gathered, kept, end - kept);
			kept = end;
		}
	}
}

static void redact_modules(struct ep_gathered *gathered, const struct ep_pages *pages)
{
	size_t count = pages->exact.count;
	struct ep_range *wanted = ep_calloc(count, sizeof(*wanted));

	if (count) {
		memcpy(wanted, pages->exact.list, count * sizeof(*wanted));
		qsort(wanted, count, sizeof(*wanted), compare_ranges);
	}
	wipe_beside(gathered, &pages->modules, wanted, count);
	free(wanted);
}

/*
 * Arguments, environment and the program's path, which the kernel lays above the platform's name
 * and the random bytes at the end of the first stack (Linux fs/binfmt_elf.c, create_elf_tables).
 */
static void arguments_find(struct ep_redaction *r)
{
	static const uint64_t below[] = {AT_RANDOM, AT_PLATFORM, AT_BASE_PLATFORM};
	struct ep_source *source = r->gathered->source;
	const struct ep_segment *segment;
	uint64_t at = 0, one, end;
	char text[256];

	for (size_t i = 0; i < sizeof(below) / sizeof(*below); i++) {
		if (ep_source_auxv(source, below[i], &one))
			continue;
		end = one + 16;
		if (below[i] != AT_RANDOM) {
			text[0] = '\0';
			ep_source_read_string(source, one, text, sizeof(text), NULL);
			end = one + strlen(text) + 1;
		}
		at = end > at ? end : at;
	}
	segment = at ? ep_source_segment_at(source, at - 1) : NULL;
	if (segment)
		r->arguments = (struct ep_range){at, segment->address + segment->memory_size};
}

/* The file's path stands behind the root, in its page, if anywhere. */
static void redact_root(struct ep_redaction *r, uint64_t address)
{
	uint8_t *bytes = ep_gathered_at(r->gathered, address, sizeof(struct ep_root));
	struct ep_root root;

	if (!bytes || !(r->words & EP_REDACTED_PATHS))
		return;
	memcpy(&root, bytes, sizeof(root));
	root.file_path = root.file_path_size = 0;
	root.crc = ep_crc32(&root, offsetof(struct ep_root, crc));
	memcpy(bytes, &root, sizeof(root));
}

/* ---- all of it ---- */

static void redact_kept(struct ep_redaction *r, const struct ep_root_found *found)
{
	struct ep_kept_list kept;

	ep_kept_list(&kept, r->gathered->source, found);
	for (size_t i = 0; i < kept.count; i++)
		ep_redact_arena(r, kept.list[i].kept.address, kept.list[i].kept.size);
	ep_kept_list_deinit(&kept);
}

int ep_redact(struct ep_gathered *gathered, const struct ep_redact_options *options,
	      struct ep_err *err)
{
	struct ep_redaction r = {
		.gathered = gathered,
		.words = options->words,
		.identity = options->identity,
		.arena = options->arena,
	};

	if (!r.words)
		return EP_OK;
	if (getrandom(r.key, sizeof(r.key), 0) != sizeof(r.key))
		return ep_fail(err, EP_E_IO, 0, "getrandom: %m");
	ep_redact_find_program(&r);
	ep_redact_find_modules(&r);
	if (r.words & (EP_REDACTED_CMDLINE | EP_REDACTED_PATHS))
		arguments_find(&r);
	ep_redact_notes(&r);
	ep_redact_arena(&r, options->arena, options->arena_size);
	if (options->found)
		redact_kept(&r, options->found);
	if (options->pages)
		redact_modules(gathered, options->pages);
	ep_gathered_wipe(gathered, r.arguments.start, r.arguments.end - r.arguments.start);
	if (options->found && options->found->root_address)
		redact_root(&r, options->found->root_address);
	return EP_OK;
}

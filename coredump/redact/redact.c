/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redact.c: what is left out of a snapshot. Whatever is not known to be needed goes too: bytes
 * beside a structure in its page, sections and notes of kinds that are unknown here.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

#include "coredump/snapshot/kept.h"
#include "coredump/redact/redact_impl.h"
#include "coredump/memory/source_impl.h"

/* ---- the bytes that were gathered ---- */

static uint8_t *bytes_of(const struct ep_elfcore_piece *piece, uint64_t address)
{
	return (uint8_t *)(uintptr_t)piece->bytes + (address - piece->address);
}

uint8_t *ep_redact_at(struct ep_redaction *r, uint64_t address, uint64_t size)
{
	size_t at = ep_extract_piece_behind(r->x, address);
	const struct ep_elfcore_piece *piece;

	if (at == r->x->piece_count)
		return NULL;
	piece = &r->x->pieces[at];
	if (address < piece->address || size > piece->size - (address - piece->address))
		return NULL;
	return bytes_of(piece, address);
}

void ep_redact_wipe(struct ep_redaction *r, uint64_t address, uint64_t size)
{
	const struct ep_extraction *x = r->x;
	uint64_t end;

	if (__builtin_add_overflow(address, size, &end))
		end = UINT64_MAX;
	for (size_t i = ep_extract_piece_behind(x, address);
	     i < x->piece_count && x->pieces[i].address < end; i++) {
		uint64_t low = x->pieces[i].address;
		uint64_t high = low + x->pieces[i].size;

		low = low > address ? low : address;
		high = high < end ? high : end;
		if (low < high)
			memset(bytes_of(&x->pieces[i], low), 0, high - low);
	}
}

/* ---- what threads are called ---- */

/* The base name, as the kernel cuts it. */
static void program_set(struct ep_redaction *r, unsigned index, const char *path, size_t length)
{
	const char *slash = memrchr(path, '/', length);

	if (slash) {
		length -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	length = strnlen(path, length < EP_COMM - 1 ? length : EP_COMM - 1);
	memset(r->program[index], 0, EP_COMM);
	memcpy(r->program[index], path, length);
}

bool ep_redact_hides_name(const struct ep_redaction *r, const uint8_t *name, size_t size)
{
	const char *text = (const char *)name;

	if (r->words & EP_REDACTED_NOTES)
		return true;
	if (!(r->words & (EP_REDACTED_CMDLINE | EP_REDACTED_PATHS)))
		return false;
	size = strnlen(text, size);
	for (unsigned i = 0; i < 2; i++)
		if (r->program[i][0] && strlen(r->program[i]) == size &&
		    memcmp(r->program[i], text, size) == 0)
			return true;
	return false;
}

static void program_find(struct ep_redaction *r)
{
	struct ep_extraction *x = r->x;
	char path[4096];
	uint64_t at;

	if (ep_source_auxv(x->source, AT_EXECFN, &at) == EP_OK &&
	    ep_source_read_string(x->source, at, path, sizeof(path), NULL) == EP_OK)
		program_set(r, 0, path, strlen(path));
	/* As it stands in the load map, which also a snapshot has. */
	if (ep_source_auxv(x->source, AT_PHDR, &at) == EP_OK)
		for (size_t i = 0; i < x->source->mapping_count; i++) {
			const struct ep_mapping *one = &x->source->mappings[i];

			if (at >= one->start && at < one->end)
				program_set(r, 1, one->path, strlen(one->path));
		}
}

/* ---- memory that is not the arena's ---- */

static int compare_extents(const void *a, const void *b)
{
	const struct ep_extent *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Pages are saved whole; what else lies in them is nobody's business. */
static void wipe_beside(struct ep_redaction *r)
{
	struct ep_extraction *x = r->x;
	uint64_t kept = 0;
	size_t at = 0;

	if (x->exact_count)
		qsort(x->exact, x->exact_count, sizeof(*x->exact), compare_extents);
	for (size_t i = 0; i < x->pages.count; i++) {
		uint64_t end = x->pages.list[i].end;

		if (x->pages.list[i].start > kept)
			kept = x->pages.list[i].start;
		for (; at < x->exact_count && x->exact[at].start < end; at++) {
			if (x->exact[at].start > kept)
				ep_redact_wipe(r, kept, x->exact[at].start - kept);
			if (x->exact[at].end > kept)
				kept = x->exact[at].end;
		}
		if (kept < end) {
			ep_redact_wipe(r, kept, end - kept);
			kept = end;
		}
	}
}

/*
 * Arguments, environment and the program's path, which the kernel lays above the platform's name
 * and the random bytes at the end of the first stack (Linux fs/binfmt_elf.c, create_elf_tables).
 */
static void arguments_find(struct ep_redaction *r)
{
	static const uint64_t below[] = {AT_RANDOM, AT_PLATFORM, AT_BASE_PLATFORM};
	struct ep_source *source = r->x->source;
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
		r->arguments = (struct ep_extent){at, segment->address + segment->memory_size};
}

/* The file's path stands behind the root, in its page, if anywhere. */
static void redact_root(struct ep_redaction *r, uint64_t address)
{
	uint8_t *bytes = ep_redact_at(r, address, sizeof(struct ep_root));
	struct ep_root root;

	if (!bytes || !(r->words & EP_REDACTED_PATHS))
		return;
	memcpy(&root, bytes, sizeof(root));
	root.file_path = root.file_path_size = 0;
	root.crc = ep_crc32(&root, offsetof(struct ep_root, crc));
	memcpy(bytes, &root, sizeof(root));
}

/* ---- all of it ---- */

static void redact_kept(struct ep_redaction *r)
{
	struct ep_kept_list kept;

	if (!r->x->found || ep_kept_list(&kept, r->x->source, r->x->found, NULL))
		return;
	for (size_t i = 0; i < kept.count; i++)
		ep_redact_arena(r, kept.list[i].kept.address, kept.list[i].kept.size);
	ep_kept_list_deinit(&kept);
}

int ep_redact(struct ep_extraction *x, uint64_t arena, uint64_t size, uint64_t identity,
	      struct ep_err *err)
{
	struct ep_redaction r = {
		.x = x,
		.words = x->options.redact,
		.identity = identity,
		.arena = arena,
	};
	int rc;

	if (!r.words)
		return EP_OK;
	if (getrandom(r.key, sizeof(r.key), 0) != sizeof(r.key))
		return ep_fail(err, EP_E_IO, 0, "getrandom: %m");
	program_find(&r);
	ep_redact_find_modules(&r);
	if (r.words & (EP_REDACTED_CMDLINE | EP_REDACTED_PATHS))
		arguments_find(&r);
	rc = ep_redact_notes(&r, err);
	if (rc)
		return rc;
	ep_redact_arena(&r, arena, size);
	redact_kept(&r);
	wipe_beside(&r);
	ep_redact_wipe(&r, r.arguments.start, r.arguments.end - r.arguments.start);
	if (x->found && x->found->root_address)
		redact_root(&r, x->found->root_address);
	return EP_OK;
}

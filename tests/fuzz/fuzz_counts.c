/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_counts.c: any bytes as counts. A text that begins as a counts file is taken as it is, and
 * with its last line made right. Anything else is the pages of a process that counts: chunks of a
 * page number (1 byte), a size (2),
 * and that many bytes; taken as they are, and with the check words of extents made right.
 *
 * Invariants: addresses ascend, sums are sums, what is printed is read as the same counts, and a
 * run is never added twice.
 */
#include <inttypes.h>

#include "coredump/find/root.h"
#include "decoder/trace/trace.h"
#include "funcount/counts/counts.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/build_arena.h"
#include "tests/unit/build_counts.h"

#define PAGE  4096u
#define PAGES 64u

/* ---- what holds of any counts ---- */

static void check_module(const struct ep_counts_module *module)
{
	uint64_t calls = 0;
	bool overflow = false;

	for (size_t i = 0; i < module->entries.count; i++) {
		const struct ep_counts_entry *entry = &module->entries.list[i];

		MUST(entry->calls);
		MUST(i == 0 || entry[-1].address < entry->address);
		MUST(ep_counts_at(module, entry->address) == entry->calls);
		overflow |= __builtin_add_overflow(calls, entry->calls, &calls);
	}
	MUST(overflow || calls == module->calls);
	MUST(overflow || ep_counts_between(module, 0, UINT64_MAX) <= module->calls);
}

static void check_text(const struct ep_counts *counts)
{
	size_t size, again_size;
	char *text = build_counts_text(counts, &size), *again;
	struct ep_counts *read = build_counts_parse(text, size);

	again = build_counts_text(read, &again_size);
	MUST(size == again_size && !memcmp(text, again, size));
	free(text);
	free(again);
	ep_counts_destroy(read);
}

static void check_merge(const struct ep_counts *counts)
{
	struct ep_counts *sum = ep_counts_create();

	MUST(sum && ep_counts_merge(sum, counts, NULL) == EP_OK);
	MUST(sum->calls == counts->calls);
	for (size_t i = 0; i < counts->runs.count; i++)
		if (counts->runs.list[i].identity) {
			MUST(ep_counts_merge(sum, counts, NULL) == EP_E_MISMATCH);
			break;
		}
	MUST(sum->calls == counts->calls);
	ep_counts_destroy(sum);
}

static void check(const struct ep_counts *counts)
{
	uint64_t calls = 0;
	bool overflow = counts->overflow;

	for (size_t i = 0; i < counts->modules.count; i++) {
		check_module(&counts->modules.list[i]);
		overflow |= __builtin_add_overflow(calls, counts->modules.list[i].calls, &calls);
	}
	MUST(overflow || calls == counts->calls);
	MUST(!counts->overflow || ep_counts_incomplete(counts));
	ep_counts_duration(counts);
	ep_counts_memory(counts);
	check_text(counts);
	check_merge(counts);
}

/* ---- a file ---- */

static void take_text(const void *text, size_t size)
{
	struct ep_counts *counts = NULL;
	struct ep_err err = {0};
	int rc = ep_counts_parse(&counts, text, size, "fuzz", &err);

	if (rc) {
		MUST(!counts);
		fuzz_check_failure(rc, &err);
		return;
	}
	check(counts);
	ep_counts_destroy(counts);
}

/* Its lines up to the first that begins with "end ", and a right one. */
static void take_ended(const char *bytes, size_t size)
{
	const char *end = memmem(bytes, size, "\nend ", 5);
	size_t kept = end ? (size_t)(end - bytes) + 1 : size, lines = 0;
	char *text = malloc(kept + 64);

	MUST(text);
	memcpy(text, bytes, kept);
	if (!kept || text[kept - 1] != '\n')
		text[kept++] = '\n';
	for (size_t i = 0; i < kept; i++)
		lines += text[i] == '\n';
	size = kept +
	       (size_t)sprintf(text + kept, "end %zu %08" PRIx32 "\n", lines, ep_crc32(text, kept));
	take_text(text, size);
	free(text);
}

/* ---- an arena ---- */

static const uint8_t id[20] = {1, 2, 3};

/* A section of PAGES pages; the chunks of `bytes` in it. */
static void put_section(struct build_arena *b, const uint8_t *bytes, size_t size, bool seal)
{
	uint8_t *section = b->bytes + b->committed;
	uint64_t offset = b->committed;
	struct fuzz_bytes left = {bytes, size};

	b->arena->sections[b->arena->section_count++] = (struct ep_section){
		EP_SECTION_COUNTS, sizeof(struct ep_counts_head), offset, PAGES * PAGE};
	b->committed += PAGES * PAGE;
	while (left.left > 4) {
		unsigned page = fuzz_take8(&left) % PAGES;
		unsigned length = fuzz_take8(&left);
		uint8_t *to = section + page * PAGE;
		struct ep_counts_extent head;

		length |= (unsigned)fuzz_take8(&left) << 8;
		if (length > left.left)
			length = (unsigned)left.left;
		if (length > (PAGES - page) * PAGE)
			length = (PAGES - page) * PAGE;
		memcpy(to, left.at, length);
		left.at += length;
		left.left -= length;
		if (!seal || !page)
			continue;
		memcpy(&head, to, sizeof(head));
		head.check = ep_extent_check(&head, offset + page * PAGE, b->arena->root.identity);
		memcpy(to, &head, sizeof(head));
	}
}

static void take_arena(const uint8_t *bytes, size_t size, bool seal)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct ep_image image = {0};
	struct ep_counts *counts = NULL;
	struct ep_err err = {0};
	struct ep_trace *trace;
	struct build_arena *b;
	int rc;

	options.size = 1u << 20;
	options.thread_capacity = options.module_capacity = 4;
	b = build_arena_create(&options);
	build_arena_module(b, "/usr/bin/server", 0x400000, 0x500000, 0, id, sizeof(id));
	put_section(b, bytes, size, seal);
	build_arena_seal(b);
	MUST(ep_image_from_bytes(&image, b->bytes, b->committed, NULL) == EP_OK);
	MUST(ep_trace_create(&trace, &image, NULL) == EP_OK);
	rc = ep_counts_from_trace(&counts, trace, &err);
	MUST(rc == EP_OK);
	check(counts);
	MUST(counts->runs.count == 1);
	ep_counts_destroy(counts);
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
	build_arena_destroy(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (ep_counts_is_text(bytes, size)) {
		take_text(bytes, size);
		take_ended((const char *)bytes, size);
		return 0;
	}
	take_arena(bytes, size, false);
	take_arena(bytes, size, true);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * extract_modules.c: the pages by which gdb and libdwfl find out what was loaded where: the first
 * page of each ELF mapping (headers, build-id), the vDSO, and the dynamic linker's list as <link.h>
 * lays it out.
 */
#include "coredump/snapshot/extract_impl.h"

#include <link.h>
#include <string.h>

#include "coredump/find/abortmessage.h"
#include "coredump/memory/elfimage.h"
#include "coredump/memory/source_impl.h"

#define LINK_MAPS_MAX  65536u /* far more than any process has */
#define DYNAMIC_MAX    (64u << 10)
#define VDSO_MAX       (64u << 10)
#define NAME_MAX_BYTES 4096u

static bool is_elf(struct ep_source *source, uint64_t address)
{
	char magic[SELFMAG];
	struct ep_err ignored;

	return ep_source_read(source, address, magic, sizeof(magic), NULL, &ignored) == EP_OK &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

static bool is_code(const struct ep_source *source, uint64_t address)
{
	const struct ep_segment *segment = ep_source_segment_at(source, address);

	return segment && segment->flags & PF_X;
}

/* These bytes stay when something is redacted. */
static int exact_add(struct ep_extraction *x, uint64_t start, uint64_t end, struct ep_err *err)
{
	if (!x->options.redact)
		return EP_OK;
	if (!ep_list_grow(&x->exact, x->exact_count, &x->exact_capacity, sizeof(*x->exact)))
		return ep_fail(err, EP_E_MEMORY, start, "out of memory");
	x->exact[x->exact_count++] = (struct ep_extent){start, end};
	return EP_OK;
}

/* Pages with these bytes; of the rest of them nothing is wanted. */
static int pages_add(struct ep_extraction *x, uint64_t address, uint64_t size, struct ep_err *err)
{
	ep_ranges_add(&x->pages, address, size);
	return exact_add(x, address, address + size, err);
}

/* An object's first page. Without paths, its headers and notes: behind them may be an interpreter,
 * RUNPATHs, names of libraries. */
static int first_page(struct ep_extraction *x, uint64_t start, struct ep_err *err)
{
	uint64_t end = start + EP_PAGE;
	struct ep_elf_image image;
	int rc;

	if (!(x->options.redact & EP_REDACTED_PATHS))
		return pages_add(x, start, EP_PAGE, err);
	ep_ranges_add(&x->pages, start, EP_PAGE);
	if (ep_elf_image_read(&image, x->source, start, NULL))
		return EP_OK;
	rc = pages_add(x, start, sizeof(Elf64_Ehdr) + image.count * sizeof(Elf64_Phdr), err);
	for (uint32_t i = 0; i < image.count && rc == EP_OK; i++) {
		const Elf64_Phdr *one = &image.headers[i];
		uint64_t at = image.bias + one->p_vaddr;

		if (one->p_type == PT_NOTE && at >= start && at < end)
			rc = pages_add(x, at, one->p_filesz < end - at ? one->p_filesz : end - at,
				       err);
	}
	return rc;
}

/* An object whose first page was not saved is told by its code: by a mapping of the same file that
 * follows it. So they are looked at from the last on. */
static int first_pages(struct ep_extraction *x, struct ep_err *err)
{
	struct ep_source *source = x->source;
	const char *path = "";
	bool code = false;
	int rc = EP_OK;

	for (size_t i = source->mapping_count; i-- && rc == EP_OK;) {
		const struct ep_mapping *mapping = &source->mappings[i];

		code = is_code(source, mapping->start) ||
		       (code && strcmp(mapping->path, path) == 0);
		path = mapping->path;
		if (mapping->file_offset == 0 && (code || is_elf(source, mapping->start)))
			rc = first_page(x, mapping->start, err);
	}
	/* Without a list of files every segment may begin an object. */
	for (size_t i = 0; !source->mapping_count && i < source->segment_count && rc == EP_OK; i++)
		if (is_elf(source, source->segments[i].address))
			rc = first_page(x, source->segments[i].address, err);
	return rc;
}

static int vdso(struct ep_extraction *x, struct ep_err *err)
{
	const struct ep_segment *segment;
	uint64_t address;

	if (ep_source_auxv(x->source, AT_SYSINFO_EHDR, &address))
		return EP_OK;
	segment = ep_source_segment_at(x->source, address);
	if (!segment || segment->memory_size > VDSO_MAX)
		return EP_OK;
	return pages_add(x, segment->address, segment->memory_size, err);
}

/* ---- the dynamic linker's list ---- */

/* Value of the tag in .dynamic; 0: absent. */
static uint64_t dynamic_value(struct ep_source *source, uint64_t address, uint64_t size,
			      int64_t tag)
{
	struct ep_err ignored;
	Elf64_Dyn entry;

	for (uint64_t at = 0; at + sizeof(entry) <= size; at += sizeof(entry)) {
		if (ep_source_read(source, address + at, &entry, sizeof(entry), NULL, &ignored) ||
		    entry.d_tag == DT_NULL)
			return 0;
		if (entry.d_tag == tag)
			return entry.d_un.d_val;
	}
	return 0;
}

/* Tells a list that goes round (Brent): a node is compared with one that was passed before and is
 * moved up at each power of two. */
struct walk {
	uint64_t anchor, steps, until;
};

static bool walk_goes_on(struct walk *walk, uint64_t node)
{
	if (node == 0 || node == walk->anchor)
		return false;
	if (walk->steps++ == walk->until) {
		walk->anchor = node;
		walk->until = 2 * walk->until + 1;
	}
	return true;
}

static int link_maps(struct ep_extraction *x, uint64_t node, uint32_t *budget, struct ep_err *err)
{
	struct walk walk = {0};
	int rc = EP_OK;

	while (walk_goes_on(&walk, node) && *budget && rc == EP_OK) {
		char name[NAME_MAX_BYTES];
		struct ep_err ignored;
		struct link_map map;

		(*budget)--;
		rc = pages_add(x, node, sizeof(map), err);
		if (rc || ep_source_read(x->source, node, &map, sizeof(map), NULL, &ignored))
			return rc;
		ep_source_read_string(x->source, (uint64_t)(uintptr_t)map.l_name, name,
				      sizeof(name), &ignored);
		if (map.l_name && !(x->options.redact & EP_REDACTED_PATHS))
			rc = pages_add(x, (uint64_t)(uintptr_t)map.l_name, strlen(name) + 1, err);
		node = (uint64_t)(uintptr_t)map.l_next;
	}
	return rc;
}

/* Every namespace's list (dlmopen): r_next, since r_version 2. */
static int linker_lists(struct ep_extraction *x, uint64_t address, struct ep_err *err)
{
	uint32_t budget = LINK_MAPS_MAX;
	struct walk walk = {0};
	int rc = EP_OK;

	while (walk_goes_on(&walk, address) && budget && rc == EP_OK) {
		struct r_debug_extended debug = {0};
		struct ep_err ignored;

		budget--;
		rc = pages_add(x, address, sizeof(debug), err);
		if (rc || ep_source_read(x->source, address, &debug.base, sizeof(debug.base), NULL,
					 &ignored))
			return rc;
		rc = link_maps(x, (uint64_t)(uintptr_t)debug.base.r_map, &budget, err);
		if (debug.base.r_version < 2 ||
		    ep_source_read(x->source, address, &debug, sizeof(debug), NULL, &ignored))
			return rc;
		address = (uint64_t)(uintptr_t)debug.r_next;
	}
	return rc;
}

static int executable(struct ep_extraction *x, struct ep_err *err)
{
	struct ep_elf_image image;
	struct ep_err ignored;
	const Elf64_Phdr *dynamic;
	uint64_t address, size, debug;
	int rc = EP_OK;

	if (ep_source_auxv(x->source, AT_PHDR, &address) == EP_OK)
		rc = pages_add(x, address, sizeof(image.headers[0]), err);
	if (rc || ep_elf_image_executable(&image, x->source, &ignored))
		return rc;
	if (image.start)
		rc = first_page(x, image.start, err);
	dynamic = ep_elf_image_header(&image, PT_DYNAMIC);
	if (rc || !dynamic)
		return rc;
	address = image.bias + dynamic->p_vaddr;
	size = dynamic->p_memsz < DYNAMIC_MAX ? dynamic->p_memsz : DYNAMIC_MAX;
	rc = pages_add(x, address, size, err);
	debug = dynamic_value(x->source, address, size, DT_DEBUG);
	return rc ? rc : linker_lists(x, debug, err);
}

/* What the C library said last: a page or two. */
static int last_words(struct ep_extraction *x, struct ep_err *err)
{
	struct ep_abort_message message;
	int rc;

	if (!ep_abort_message_find(&message, x->source) || x->options.redact & EP_REDACTED_NOTES)
		return EP_OK;
	rc = pages_add(x, message.pointer, sizeof(message.pointer), err);
	return rc ? rc : pages_add(x, message.address, message.size, err);
}

/* The root, and behind it the path of the arena's file. */
static int root_page(struct ep_extraction *x, struct ep_err *err)
{
	const struct ep_root *root = &x->found->root;
	uint64_t address = x->found->root_address;
	int rc = pages_add(x, address, sizeof(*root), err);

	if (rc || x->options.redact & EP_REDACTED_PATHS || root->file_path > EP_PAGE ||
	    root->file_path_size > EP_PAGE)
		return rc;
	return exact_add(x, address + root->file_path,
			 address + root->file_path + root->file_path_size, err);
}

int ep_extract_modules(struct ep_extraction *x, struct ep_err *err)
{
	int rc;

	if (x->options.arena_only)
		return EP_OK;
	rc = first_pages(x, err);
	rc = rc ? rc : vdso(x, err);
	rc = rc ? rc : executable(x, err);
	rc = rc ? rc : last_words(x, err);
	if (rc == EP_OK && x->found->root_address)
		rc = root_page(x, err);
	/* What is wanted for other reasons may share a page. */
	for (size_t i = 0; i < x->all.count && rc == EP_OK; i++)
		rc = exact_add(x, x->all.list[i].start, x->all.list[i].end, err);
	ep_ranges_join(&x->pages);
	ep_ranges_add_all(&x->all, &x->pages);
	return rc;
}

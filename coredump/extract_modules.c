/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * extract_modules.c: the pages by which gdb and libdwfl find out what was
 * loaded where: the first page of each ELF mapping (headers, build-id), the
 * vDSO, and the dynamic linker's list as <link.h> lays it out.
 */
#include "coredump/extract_impl.h"

#include <link.h>
#include <string.h>

#include "coredump/elfimage.h"
#include "coredump/source_impl.h"

#define LINK_MAPS_MAX  65536u /* far more than any process has */
#define DYNAMIC_MAX    (64u << 10)
#define VDSO_MAX       (64u << 10)
#define NAME_MAX_BYTES 4096u

static bool is_elf(struct ep_source *source, uint64_t address)
{
	char magic[SELFMAG];
	struct ep_err ignored;

	return ep_source_read(source, address, magic, sizeof(magic), NULL,
			      &ignored) == EP_OK &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* An object whose first page was not saved: told by its code. */
static bool has_code(const struct ep_source *source, size_t index)
{
	const struct ep_mapping *first = &source->mappings[index];

	for (size_t i = index; i < source->mapping_count; i++) {
		const struct ep_mapping *mapping = &source->mappings[i];
		const struct ep_segment *segment =
			ep_source_segment_at(source, mapping->start);

		if (strcmp(mapping->path, first->path) != 0)
			break;
		if (segment && segment->flags & PF_X)
			return true;
	}
	return false;
}

static int first_pages(struct ep_extraction *x, struct ep_err *err)
{
	struct ep_source *source = x->source;
	int rc = EP_OK;

	for (size_t i = 0; i < source->mapping_count && rc == EP_OK; i++) {
		uint64_t start = source->mappings[i].start;

		if (source->mappings[i].file_offset == 0 &&
		    (is_elf(source, start) || has_code(source, i)))
			rc = ep_ranges_add(&x->pages, start, EP_PAGE, err);
	}
	/* Without a list of files every segment may begin an object. */
	for (size_t i = 0;
	     !source->mapping_count && i < source->segment_count && rc == EP_OK;
	     i++)
		if (is_elf(source, source->segments[i].address))
			rc = ep_ranges_add(&x->pages,
					   source->segments[i].address, EP_PAGE,
					   err);
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
	return ep_ranges_add(&x->pages, segment->address, segment->memory_size,
			     err);
}

/* ---- the dynamic linker's list ---- */

/* Value of the tag in .dynamic; 0: absent. */
static uint64_t dynamic_value(struct ep_source *source, uint64_t address,
			      uint64_t size, int64_t tag)
{
	struct ep_err ignored;
	Elf64_Dyn entry;

	for (uint64_t at = 0; at + sizeof(entry) <= size; at += sizeof(entry)) {
		if (ep_source_read(source, address + at, &entry, sizeof(entry),
				   NULL, &ignored) ||
		    entry.d_tag == DT_NULL)
			return 0;
		if (entry.d_tag == tag)
			return entry.d_un.d_val;
	}
	return 0;
}

/* Tells a list that goes round (Brent): a node is compared with one that was
 * passed before and is moved up at each power of two. */
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

static int link_maps(struct ep_extraction *x, uint64_t node, uint32_t *budget,
		     struct ep_err *err)
{
	struct walk walk = {0};
	int rc = EP_OK;

	while (walk_goes_on(&walk, node) && *budget && rc == EP_OK) {
		char name[NAME_MAX_BYTES];
		struct ep_err ignored;
		struct link_map map;

		(*budget)--;
		rc = ep_ranges_add(&x->pages, node, sizeof(map), err);
		if (rc || ep_source_read(x->source, node, &map, sizeof(map),
					 NULL, &ignored))
			return rc;
		ep_source_read_string(x->source,
				      (uint64_t)(uintptr_t)map.l_name, name,
				      sizeof(name), &ignored);
		if (map.l_name)
			rc = ep_ranges_add(&x->pages,
					   (uint64_t)(uintptr_t)map.l_name,
					   strlen(name) + 1, err);
		node = (uint64_t)(uintptr_t)map.l_next;
	}
	return rc;
}

/* Every namespace's list (dlmopen): r_next, since r_version 2. */
static int linker_lists(struct ep_extraction *x, uint64_t address,
			struct ep_err *err)
{
	uint32_t budget = LINK_MAPS_MAX;
	struct walk walk = {0};
	int rc = EP_OK;

	while (walk_goes_on(&walk, address) && budget && rc == EP_OK) {
		struct r_debug_extended debug = {0};
		struct ep_err ignored;

		budget--;
		rc = ep_ranges_add(&x->pages, address, sizeof(debug), err);
		if (rc || ep_source_read(x->source, address, &debug.base,
					 sizeof(debug.base), NULL, &ignored))
			return rc;
		rc = link_maps(x, (uint64_t)(uintptr_t)debug.base.r_map,
			       &budget, err);
		if (debug.base.r_version < 2 ||
		    ep_source_read(x->source, address, &debug, sizeof(debug),
				   NULL, &ignored))
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
		rc = ep_ranges_add(&x->pages, address, sizeof(image.headers[0]),
				   err);
	if (rc || ep_elf_image_executable(&image, x->source, &ignored))
		return rc;
	if (image.start)
		rc = ep_ranges_add(&x->pages, image.start, EP_PAGE, err);
	dynamic = ep_elf_image_header(&image, PT_DYNAMIC);
	if (rc || !dynamic)
		return rc;
	address = image.bias + dynamic->p_vaddr;
	size = dynamic->p_memsz < DYNAMIC_MAX ? dynamic->p_memsz : DYNAMIC_MAX;
	rc = ep_ranges_add(&x->pages, address, size, err);
	debug = dynamic_value(x->source, address, size, DT_DEBUG);
	return rc ? rc : linker_lists(x, debug, err);
}

int ep_extract_modules(struct ep_extraction *x, struct ep_err *err)
{
	int rc;

	if (x->options.arena_only)
		return EP_OK;
	rc = first_pages(x, err);
	rc = rc ? rc : vdso(x, err);
	rc = rc ? rc : executable(x, err);
	if (rc == EP_OK && x->found->root_address)
		rc = ep_ranges_add(&x->pages, x->found->root_address,
				   sizeof(struct ep_root), err);
	ep_ranges_join(&x->pages);
	return rc ? rc : ep_ranges_add_all(&x->all, &x->pages, err);
}

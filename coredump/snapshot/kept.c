/* SPDX-License-Identifier: BSD-2-Clause */
/* kept.c: the arena's table of kept snapshots, believed entry by entry. */
#include "coredump/snapshot/kept.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/memory/ranges.h"
#include "coredump/memory/source_impl.h"
#include "coredump/util/array.h"

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
		    section->entry_size < sizeof(struct ep_kept) || section->offset % 64 ||
		    section->offset > found->root.arena_size ||
		    section->size > found->root.arena_size - section->offset)
			continue;
		*out = *section;
		return true;
	}
	return false;
}

static void entry_read(struct ep_kept_list *list, struct ep_source *source, uint64_t address)
{
	struct ep_kept kept;

	if (ep_source_read(source, address, &kept, sizeof(kept), NULL, NULL) ||
	    kept.state != EP_KEPT_VALID)
		return;
	if (plausible(&kept))
		ep_array_push(list, ((struct ep_kept_found){
					    kept, ep_range_present(source, kept.address,
								   kept.address + kept.size)}));
	else
		list->corrupt++;
}

void ep_kept_list(struct ep_kept_list *out, struct ep_source *source,
		  const struct ep_root_found *found)
{
	struct ep_section section;

	memset(out, 0, sizeof(*out));
	if (!find_table(source, found, &section))
		return;
	for (uint64_t i = 0; i < EP_KEPT_MAX && i < section.size / section.entry_size; i++)
		entry_read(out, source,
			   found->arena_address + section.offset + i * section.entry_size);
	ep_array_sort(out, compare_numbers);
}

void ep_kept_list_deinit(struct ep_kept_list *list)
{
	ep_array_deinit(list);
}

const struct ep_kept_found *ep_kept_at(const struct ep_kept_list *list, uint64_t number)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->list[i].kept.number == number)
			return &list->list[i];
	return NULL;
}

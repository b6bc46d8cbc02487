/* SPDX-License-Identifier: BSD-2-Clause */
/* switched.c: head and entries, as far as they can be right. */
#include "coredump/live/switched.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

/* What a section may say: many times what the runtime writes. */
#define ARENA_PAGE   4096u /* the first, which names the sections */
#define ENTRY_MOST   1024
#define ENTRIES_MOST (1u << 16)

static int find_section(struct ep_section *out, struct ep_source *source,
			const struct ep_root_found *found, struct ep_err *err)
{
	struct ep_arena arena;
	int rc = ep_source_read(source, found->arena_address, &arena, sizeof(arena), NULL, err);

	if (rc)
		return rc;
	for (unsigned i = 0; i < EP_SECTION_MAX && i < arena.section_count; i++)
		if (arena.sections[i].type == EP_SECTION_SWITCHES) {
			*out = arena.sections[i];
			return EP_OK;
		}
	return ep_fail(
		err, EP_END, 0,
		"%s: built with a runtime that does not switch hooks (format %u.%u, it takes "
		"1.7); epitaph control pause and resume work",
		ep_source_name(source), found->root.major, found->root.minor);
}

static bool is_right(const struct ep_section *section, const struct ep_switches *head,
		     const struct ep_root_found *found)
{
	uint64_t entries = (uint64_t)head->capacity + head->control_capacity;

	return section->offset % 64 == 0 && section->offset >= ARENA_PAGE &&
	       section->offset <= found->root.arena_size &&
	       section->size <= found->root.arena_size - section->offset &&
	       section->size >= sizeof(*head) &&
	       section->entry_size >= sizeof(struct ep_switched) &&
	       section->entry_size <= ENTRY_MOST && entries <= ENTRIES_MOST &&
	       entries <= (section->size - sizeof(*head)) / section->entry_size &&
	       head->count <= head->capacity && head->control_count <= head->control_capacity;
}

/* Entries from number `first` on. What was not saved has none. */
static struct ep_switched *read_entries(const struct ep_switched_list *list,
					struct ep_source *source, uint64_t first, size_t count)
{
	struct ep_switched *entries = ep_calloc(count, sizeof(*entries));
	uint64_t at = ep_switched_address(list, first);
	size_t size = count * list->entry_size;
	uint8_t *bytes = ep_calloc(count, list->entry_size);

	if (size)
		ep_source_read(source, at, bytes, size, NULL, NULL);
	for (size_t i = 0; i < count; i++)
		memcpy(&entries[i], bytes + i * list->entry_size, sizeof(*entries));
	free(bytes);
	return entries;
}

int ep_switched_read(struct ep_switched_list *out, struct ep_source *source,
		     const struct ep_root_found *found, struct ep_err *err)
{
	struct ep_switched_list list = {0};
	struct ep_section section;
	int rc = find_section(&section, source, found, err);

	if (rc)
		return rc;
	list.address = found->arena_address + section.offset;
	list.entry_size = section.entry_size;
	rc = ep_source_read(source, list.address, &list.head, sizeof(list.head), NULL, err);
	if (rc)
		return rc;
	if (!is_right(&section, &list.head, found))
		return ep_fail(err, EP_E_CORRUPT, list.address,
			       "%s: the list of functions that are switched off makes no sense",
			       ep_source_name(source));
	list.own_count = list.head.count;
	list.control_count = list.head.control_count;
	list.own = read_entries(&list, source, 0, list.own_count);
	list.control = read_entries(&list, source, list.head.capacity, list.control_count);
	*out = list;
	return EP_OK;
}

void ep_switched_deinit(struct ep_switched_list *list)
{
	free(list->own);
	free(list->control);
	memset(list, 0, sizeof(*list));
}

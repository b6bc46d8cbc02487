/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_ranges.c: a bounded list of address ranges. */
#include "runtime/snapshot/snapshot_ranges.h"

#include <elf.h>

#include "runtime/lib/files.h"

#define PAGE UINT64_C(4096)

static bool contained(const struct ep_snapshot_ranges *ranges, uint64_t start, uint64_t end,
		      uint32_t kind)
{
	/* Neighbours in time are neighbours in space: from the newest. */
	for (uint32_t i = ranges->count; i > 0; i--) {
		const struct ep_snapshot_range *range = &ranges->list[i - 1];

		if (range->start <= start && end <= range->end && (range->kind & kind) == kind)
			return true;
	}
	return false;
}

void ep_snapshot_ranges_add(struct ep_snapshot_ranges *ranges, uint64_t start, uint64_t end,
			    uint32_t kind)
{
	start &= ~(PAGE - 1);
	end = (end + PAGE - 1) & ~(PAGE - 1);
	if (start >= end || contained(ranges, start, end, kind))
		return;
	if (ranges->count == EP_RANGES) {
		ranges->left_out++;
		return;
	}
	ranges->list[ranges->count++] = (struct ep_snapshot_range){start, end, kind};
}

/* By start; of those that start together the largest comes first. */
static bool before(const struct ep_snapshot_range *a, const struct ep_snapshot_range *b)
{
	return a->start < b->start || (a->start == b->start && a->end > b->end);
}

/* By insertion: most come in order. */
static void sort(struct ep_snapshot_ranges *ranges)
{
	for (uint32_t i = 1; i < ranges->count; i++) {
		struct ep_snapshot_range range = ranges->list[i];
		uint32_t at = i;

		for (; at && before(&range, &ranges->list[at - 1]); at--)
			ranges->list[at] = ranges->list[at - 1];
		ranges->list[at] = range;
	}
}

static bool join(struct ep_snapshot_range *last, const struct ep_snapshot_range *next)
{
	if ((last->kind | next->kind) & EP_RANGE_ARENA || next->start > last->end ||
	    ((next->kind & EP_RANGE_HEAD || (last->kind ^ next->kind) & EP_RANGE_CODE) &&
	     next->start != last->start))
		return false;
	if (next->end > last->end)
		last->end = next->end;
	last->kind |= next->kind;
	return true;
}

/* A header, or code, begins inside of `last`: the rest of it goes to the new one. */
static void split(struct ep_snapshot_range *last, struct ep_snapshot_range *next)
{
	if (next->end < last->end)
		next->end = last->end;
	next->kind |= last->kind;
	last->end = next->start;
}

void ep_snapshot_ranges_settle(struct ep_snapshot_ranges *ranges)
{
	uint32_t kept = 0;

	sort(ranges);
	for (uint32_t i = 0; i < ranges->count; i++) {
		struct ep_snapshot_range range = ranges->list[i];
		struct ep_snapshot_range *last = kept ? &ranges->list[kept - 1] : NULL;

		if (last && join(last, &range))
			continue;
		if (last && range.start < last->end)
			split(last, &range);
		ranges->list[kept++] = range;
	}
	ranges->count = kept;
}

/* ---- the dynamic linker's lists ---- */

#define NAMESPACES 16
#define NODES      8192
#define NAME_BYTES 4096

/* Offsets in struct r_debug and struct link_map; fixed by the ABI. */
struct debug_head {
	uint32_t version;
	uint32_t padding;
	uint64_t map;
	uint64_t brk;
	uint64_t state;
	uint64_t ldbase;
	uint64_t next; /* version 2 on: another namespace */
};

struct link_node {
	uint64_t addr;
	uint64_t name;
	uint64_t ld;
	uint64_t next;
	uint64_t prev;
};

static uint64_t find_debug(const struct ep_mapped_image *executable)
{
	for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= executable->dynamic_size;
	     at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn entry;

		if (!ep_memory_read(executable->dynamic + at, &entry, sizeof entry) ||
		    entry.d_tag == DT_NULL)
			return 0;
		if (entry.d_tag == DT_DEBUG)
			return entry.d_un.d_ptr;
	}
	return 0;
}

/* In pieces that end at multiples of their size, so that none reaches into a page which the string
 * does not. */
static void add_name(struct ep_snapshot_ranges *ranges, uint64_t address)
{
	uint64_t end = address + NAME_BYTES;
	char bytes[64];

	while (address < end) {
		uint64_t part = sizeof bytes - address % sizeof bytes;

		if (!ep_memory_read(address, bytes, part))
			return;
		ep_snapshot_ranges_add(ranges, address, address + part, EP_RANGE_PAGE);
		for (uint64_t i = 0; i < part; i++) {
			if (!bytes[i])
				return;
		}
		address += part;
	}
}

static void add_nodes(struct ep_snapshot_ranges *ranges, uint64_t address)
{
	struct link_node node;

	for (int i = 0; i < NODES && address; i++, address = node.next) {
		if (!ep_memory_read(address, &node, sizeof node))
			return;
		ep_snapshot_ranges_add(ranges, address, address + sizeof node, EP_RANGE_PAGE);
		if (node.name)
			add_name(ranges, node.name);
	}
}

void ep_snapshot_ranges_add_link_maps(struct ep_snapshot_ranges *ranges,
				      const struct ep_mapped_image *executable)
{
	uint64_t address = find_debug(executable);
	struct debug_head head;

	ep_snapshot_ranges_add(ranges, executable->dynamic,
			       executable->dynamic + executable->dynamic_size, EP_RANGE_PAGE);
	for (int i = 0; i < NAMESPACES && address; i++) {
		if (!ep_memory_read(address, &head, sizeof head))
			return;
		ep_snapshot_ranges_add(ranges, address, address + sizeof head, EP_RANGE_PAGE);
		add_nodes(ranges, head.map);
		address = head.version >= 2 ? head.next : 0;
	}
}

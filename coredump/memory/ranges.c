/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ranges.c: a set of address ranges, sorted and joined. Ranges are whole pages, so that PT_LOADs
 * are.
 */
#include "coredump/memory/ranges.h"

#include <stdlib.h>

#include "coredump/memory/source_impl.h"
#include "coredump/util/array.h"
#include "coredump/util/search.h"

#define PAGE_MASK (~(uint64_t)(EP_PAGE - 1))

void ep_ranges_add(struct ep_ranges *ranges, uint64_t address, uint64_t size)
{
	uint64_t end;

	if (size == 0)
		return;
	if (__builtin_add_overflow(address, size, &end) || end > PAGE_MASK)
		end = PAGE_MASK;
	end = (end + EP_PAGE - 1) & PAGE_MASK;
	address &= PAGE_MASK;
	if (address < end)
		ep_array_push(ranges, ((struct ep_range){address, end}));
}

void ep_ranges_add_all(struct ep_ranges *ranges, const struct ep_ranges *more)
{
	for (size_t i = 0; i < more->count; i++)
		ep_ranges_add(ranges, more->list[i].start, more->list[i].end - more->list[i].start);
}

static int range_compare(const void *left, const void *right)
{
	const struct ep_range *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

void ep_ranges_join(struct ep_ranges *ranges)
{
	size_t kept = 0;

	if (ranges->count == 0)
		return;
	ep_array_sort(ranges, range_compare);
	for (size_t i = 1; i < ranges->count; i++) {
		struct ep_range *last = &ranges->list[kept];

		if (ranges->list[i].start > last->end)
			ranges->list[++kept] = ranges->list[i];
		else if (ranges->list[i].end > last->end)
			last->end = ranges->list[i].end;
	}
	ranges->count = kept + 1;
}

void ep_ranges_deinit(struct ep_ranges *ranges)
{
	ep_array_deinit(ranges);
}

uint64_t ep_ranges_size(const struct ep_ranges *ranges)
{
	uint64_t size = 0;

	for (size_t i = 0; i < ranges->count; i++)
		size += ranges->list[i].end - ranges->list[i].start;
	return size;
}

/* Index of the first segment that ends behind `address`. */
static size_t segment_from(const struct ep_source *source, uint64_t address)
{
	const struct ep_segment *list = source->segments.list;

	return ep_partition_point(source->segments.count, i,
				  list[i].address + (list[i].memory_size - 1) < address);
}

uint64_t ep_range_present(struct ep_source *source, uint64_t start, uint64_t end)
{
	uint64_t size = 0;

	for (size_t i = segment_from(source, start); i < source->segments.count; i++) {
		const struct ep_segment *segment = &source->segments.list[i];
		uint64_t low = segment->address;
		uint64_t high = low + segment->present_size;

		if (low >= end)
			break;
		low = low > start ? low : start;
		high = high < end ? high : end;
		size += high > low ? high - low : 0;
	}
	return size;
}

uint64_t ep_ranges_present(const struct ep_ranges *ranges, struct ep_source *source)
{
	uint64_t size = 0;

	for (size_t i = 0; i < ranges->count; i++)
		size += ep_range_present(source, ranges->list[i].start, ranges->list[i].end);
	return size;
}

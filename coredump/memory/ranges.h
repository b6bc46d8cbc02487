/* SPDX-License-Identifier: BSD-2-Clause */
/* ranges.h: a set of address ranges, whole pages, and what a source has of them. */
#ifndef EPITAPH_RANGES_H
#define EPITAPH_RANGES_H

#include "coredump/memory/source.h"

struct ep_range {
	uint64_t start, end; /* process virtual, end exclusive */
};

/* A zeroed one is empty. */
struct ep_ranges {
	struct ep_range *list; /* owned */
	size_t count, capacity;
};

/* Adds the pages of [address, address + size); a range that wraps ends at the last page. */
void ep_ranges_add(struct ep_ranges *ranges, uint64_t address, uint64_t size);
void ep_ranges_add_all(struct ep_ranges *ranges, const struct ep_ranges *more);
/* Sorts, and joins what overlaps or touches. */
void ep_ranges_join(struct ep_ranges *ranges);
void ep_ranges_deinit(struct ep_ranges *ranges);

/* Bytes of all ranges; of those, what the source says that it can read. Joined ranges only. */
uint64_t ep_ranges_size(const struct ep_ranges *ranges);
uint64_t ep_ranges_present(const struct ep_ranges *ranges, struct ep_source *source);
/* The same of one range. */
uint64_t ep_range_present(struct ep_source *source, uint64_t start, uint64_t end);

#endif

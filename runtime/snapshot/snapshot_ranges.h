/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_ranges.h: which pages of its own memory a process puts into a snapshot. */
#ifndef EPITAPH_SNAPSHOT_RANGES_H
#define EPITAPH_SNAPSHOT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/facts/maps.h"

#define EP_RANGES 4096 /* more is left out and counted */

/* What a range was taken for; bits, as one page may serve several. */
#define EP_RANGE_ARENA 1u
#define EP_RANGE_PAGE  2u /* of a module or the dynamic linker */
#define EP_RANGE_STACK 4u
/* It starts with an ELF header: libdwfl finds a module only where a segment begins with it, so it
 * is never joined to what is before it. */
#define EP_RANGE_HEAD 8u
#define EP_RANGE_KEPT 16u /* kept snapshots */
#define EP_RANGE_CODE 32u /* it is executable */

struct ep_snapshot_range {
	uint64_t start, end; /* process virtual, whole pages */
	uint32_t kind;
};

struct ep_snapshot_ranges {
	uint32_t count;
	uint64_t left_out;
	struct ep_snapshot_range list[EP_RANGES];
};

/* Adds the pages that [start, end) touches. */
void ep_snapshot_ranges_add(struct ep_snapshot_ranges *ranges, uint64_t start, uint64_t end,
			    uint32_t kind);

/* Sorts by address; no two overlap afterwards. Neighbours are joined where nobody minds: not to the
 * arena, no ELF header to what is before it, and no code to what is none. */
void ep_snapshot_ranges_settle(struct ep_snapshot_ranges *ranges);

/*
 * Adds what a debugger needs to list the libraries: the dynamic section of the executable, r_debug,
 * the link_map nodes and their names (System V gABI, DT_DEBUG; glibc's link.h). The list may change
 * meanwhile: all of it is read so that it cannot fault or go on for ever.
 */
void ep_snapshot_ranges_add_link_maps(struct ep_snapshot_ranges *ranges,
				      const struct ep_mapped_image *executable);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* rings.h: the memory that threads record in: new, of a thread that has ended, or one that nobody
 * owns any more. Async-signal-safe, lock free. */
#ifndef EPITAPH_RINGS_H
#define EPITAPH_RINGS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_ring {
	uint64_t offset, size; /* bytes, in the arena; offset 0: none */
};

/* Bytes for the thread of that number, as things stand. */
uint64_t ep_rings_size_wanted(uint32_t serial);

/* A ring of at least `size` bytes, or, where there is none, any. */
bool ep_rings_find_any(uint64_t size, struct ep_ring *ring);

/* A ring of at least `size` bytes for a thread that has one, and the place where that is to be left
 * (size first, offset last). */
bool ep_rings_find_other(uint64_t size, struct ep_ring *ring, struct ep_ring **left);

/* Counting: the counters of a thread that has ended, as its ring would be handed on; false: none is
 * free. */
bool ep_rings_inherit(uint64_t *offset, uint64_t *size);

/*
 * Rings that threads left for others: *offset and *size of number `index`, from 0. False: no more.
 * They may hold blocks of anybody.
 */
bool ep_rings_unowned(unsigned index, uint64_t *offset, uint64_t *size);

/* In a forked child: there are none. */
void ep_rings_reset(void);

#endif

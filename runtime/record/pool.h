/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool.h: blocks that nobody records in: fresh ones, and those that threads left behind, the
 * longest left first. A number stands for a block: 1, 2, 3 … in the order of their places; 0 is
 * none. Lock free, async-signal-safe.
 */
#ifndef EPITAPH_POOL_H
#define EPITAPH_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/arena/integrity.h"
#include "runtime/format.h"

/* What the runtime knows of a block besides what it says itself. It lies outside of the arena: no
 * reader needs it, and an arena in a file may lose any page. */
struct ep_ring_link {
	uint32_t next;    /* in a ring: the one to enter after it; left: the next to be handed on */
	uint32_t before;  /* the one that its thread entered before it; 0: none */
	uint32_t holder;  /* whose ring it is in: place in the thread table, from 1; 0: nobody's */
	uint32_t counted; /* 1: it was entered since, and is part of its thread's ring_size */
};

/* By number; NULL: nobody wanted a block yet, or there is no memory for them. */
extern struct ep_ring_link *ep_pool_links;

/* NULL: there is no such block. */
static inline struct ep_ring_link *ep_pool_link(uint32_t number)
{
	uint64_t opened = ep_truth.arena + ep_truth.opened - ep_truth.rings;

	return number - UINT64_C(1) < opened / EP_BLOCK_SIZE && ep_pool_links
		       ? &ep_pool_links[number]
		       : NULL;
}

/* Of a number that has a link. */
static inline struct ep_block *ep_pool_block(uint32_t number)
{
	return (struct ep_block *)ep_truth.rings + (number - 1);
}

/* 0: it is none of the arena's. */
static inline uint32_t ep_pool_number(const struct ep_block *block)
{
	uint64_t at = (uint64_t)block - ep_truth.rings;

	return (uint64_t)block >= ep_truth.rings && at < ep_truth.size && at % EP_BLOCK_SIZE == 0
		       ? (uint32_t)(at / EP_BLOCK_SIZE + 1)
		       : 0;
}

/* One that nobody ever had. 0: there is none, or, without `insist`, there was none lately; or the
 * kernel may not be asked any more (jail.h). */
uint32_t ep_pool_fresh(bool insist);

/* The one that was left first, with its link as its last thread had it. 0: there is none; the very
 * last one stays. */
uint32_t ep_pool_left(void);

/* Leaves a chain of blocks: `first`, by `next` on to `last`. */
void ep_pool_leave(uint32_t first, uint32_t last);

/* Opens so many bytes (whole blocks) now, for those who ask for fresh ones next. False: there is
 * no such room. */
bool ep_pool_open(uint64_t bytes);

/* An address where the links lie. */
bool ep_pool_owns(uint64_t address);

/* In a forked child: nothing is open. */
void ep_pool_reset(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timestamp_rate.h: decides which records are worth a clock read. One in `every` is timed; `auto`
 * chooses it anew at each block, so that reading the clock costs the thread about
 * EPITAPH_CLOCK_BUDGET of its time. Where that leaves few with a time, a whole block is timed now
 * and then.
 */
#ifndef EPITAPH_TIMESTAMP_RATE_H
#define EPITAPH_TIMESTAMP_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/tls.h"

/* A block begins at `tsc`, the last one (if any) ends: chooses and sets the caller's timing mask
 * for it. Returns `every`, a power of two from 1 to 64. */
unsigned ep_timestamp_rate_next(struct ep_tls *tls, uint64_t tsc);

/* A gap of more than EP_GAP_CYCLES was seen at `cursor`: in auto, the rest of the block is fully
 * timed. */
void ep_timestamp_rate_gap(struct ep_tls *tls, uint64_t cursor);

/* What reading the clock may have of the time that passes, parts per million (at first
 * EPITAPH_CLOCK_BUDGET); and whether what follows a gap is fully timed. Of the process. */
void ep_timestamp_rate_allow(uint32_t share, bool gaps);

/* TSC cycles that the clock's reads took in the caller's block, the last one. */
uint64_t ep_timestamp_rate_cost(const struct ep_tls *tls, const struct ep_block *block);

/* The timing mask to start recording with. */
uint32_t ep_timestamp_rate_mask(const struct ep_tls *tls);

/*
 * The decision itself, free of state: a block of `records` took `cycles`, of which `reads` clock
 * reads took `read_cost` cycles each. Which `every` makes the clock cost `budget` parts per million
 * of the rest?
 */
unsigned ep_timestamp_rate_choose(uint64_t cycles, unsigned records, unsigned reads,
				  uint64_t read_cost, uint32_t budget);

#endif

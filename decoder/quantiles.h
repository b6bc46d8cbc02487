/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quantiles.h: how a set of durations is spread. Up to EP_QUANTILES_EXACT of
 * them are kept as they are; of more, how many fell into each of 128 steps
 * between two powers of two, so that a quantile is right to 0.4 %. Smallest and
 * greatest are exact. Memory: about 1 KiB, and 512 bytes for each power of two
 * met.
 */
#ifndef EPITAPH_QUANTILES_H
#define EPITAPH_QUANTILES_H

#include <stdint.h>

#define EP_QUANTILES_EXACT 64

struct ep_quantiles {
	uint64_t count;
	uint64_t min, max; /* when count is not 0 */
	uint64_t few[EP_QUANTILES_EXACT];
	uint32_t *steps[64]; /* by power of two; NULL: none */
};

void ep_quantiles_deinit(struct ep_quantiles *quantiles);

/* EP_OK or EP_E_MEMORY; then it is not among them. */
int ep_quantiles_add(struct ep_quantiles *quantiles, uint64_t value);

/* The value that `permille` of 1000 (0-1000) are not above: the nearest rank.
 * 0 when there are none. */
uint64_t ep_quantiles_at(const struct ep_quantiles *quantiles,
			 unsigned permille);

#endif

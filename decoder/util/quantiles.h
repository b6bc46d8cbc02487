/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quantiles.h: the distribution of many numbers in little memory: the least and the greatest
 * exactly, quantiles exactly up to EP_QUANTILES_EXACT numbers, and within 0.4 % from there on (a
 * histogram of 128 steps for each power of two).
 */
#ifndef EPITAPH_QUANTILES_H
#define EPITAPH_QUANTILES_H

#include <stdint.h>

#define EP_QUANTILES_EXACT 64u
#define EP_QUANTILES_BITS  7u /* 2^7 steps a power of two */

struct ep_quantiles {
	uint64_t count, min, max;
	uint64_t *few;                               /* the numbers, while few */
	uint64_t *steps[64 - EP_QUANTILES_BITS + 1]; /* counts; NULL: all 0 */
};

/* All zero is an empty one. */
void ep_quantiles_add(struct ep_quantiles *quantiles, uint64_t value);
/* Each number of `from` so many times, at least once: within 0.4 % where that makes more than
 * EP_QUANTILES_EXACT of them. */
void ep_quantiles_add_all(struct ep_quantiles *quantiles, const struct ep_quantiles *from,
			  uint64_t times);
void ep_quantiles_deinit(struct ep_quantiles *quantiles);

/* The least number that `percent` (1 to 100) of all are not above: of 10 numbers the median is the
 * fifth. 0 of an empty one. */
uint64_t ep_quantiles_at(struct ep_quantiles *quantiles, unsigned percent);

#endif

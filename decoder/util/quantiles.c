/* SPDX-License-Identifier: BSD-2-Clause */
/* quantiles.c: numbers below 2^7 have a step of their own; above, a number's step is its 8 leading
 * bits, so that a step is at most 1/128 of its numbers. */
#include "decoder/util/quantiles.h"

#include <stdlib.h>

#include "coredump/util/error.h"

#define STEPS (1u << EP_QUANTILES_BITS)

/* Powers below EP_QUANTILES_BITS share row 0; its steps are 1 wide. */
static unsigned row_of(uint64_t value)
{
	unsigned top = 63u - (unsigned)__builtin_clzll(value | 1);

	return top < EP_QUANTILES_BITS ? 0 : top - EP_QUANTILES_BITS + 1;
}

static unsigned shift_of(unsigned row)
{
	return row ? row - 1 : 0;
}

static int add_step(struct ep_quantiles *spread, uint64_t value)
{
	unsigned row = row_of(value);

	if (!spread->steps[row])
		spread->steps[row] = calloc(STEPS, sizeof(uint64_t));
	if (!spread->steps[row])
		return EP_E_MEMORY;
	spread->steps[row][(value >> shift_of(row)) & (STEPS - 1)]++;
	return EP_OK;
}

/* From now on they are too many. */
static int leave_few(struct ep_quantiles *spread)
{
	for (unsigned i = 0; i < EP_QUANTILES_EXACT; i++)
		if (add_step(spread, spread->few[i]))
			return EP_E_MEMORY;
	free(spread->few);
	spread->few = NULL;
	return EP_OK;
}

static int add_few(struct ep_quantiles *spread, uint64_t value)
{
	if (!spread->few)
		spread->few = malloc(EP_QUANTILES_EXACT * sizeof(*spread->few));
	if (!spread->few)
		return EP_E_MEMORY;
	spread->few[spread->count] = value;
	return EP_OK;
}

int ep_quantiles_add(struct ep_quantiles *spread, uint64_t value)
{
	int rc = EP_OK;

	if (spread->count == EP_QUANTILES_EXACT)
		rc = leave_few(spread);
	if (!rc)
		rc = spread->count < EP_QUANTILES_EXACT ? add_few(spread, value)
							: add_step(spread, value);
	if (rc)
		return rc;
	if (spread->count == 0 || value < spread->min)
		spread->min = value;
	if (value > spread->max)
		spread->max = value;
	spread->count++;
	return EP_OK;
}

void ep_quantiles_deinit(struct ep_quantiles *spread)
{
	free(spread->few);
	for (unsigned i = 0; i < sizeof(spread->steps) / sizeof(*spread->steps); i++)
		free(spread->steps[i]);
}

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

/* The middle of a step, which may lie beyond the numbers in it. */
static uint64_t middle(const struct ep_quantiles *spread, unsigned row, unsigned step)
{
	unsigned shift = shift_of(row);
	uint64_t value = (uint64_t)(row ? step | STEPS : step) << shift;

	value += ((UINT64_C(1) << shift) - 1) / 2;
	if (value < spread->min)
		return spread->min;
	return value < spread->max ? value : spread->max;
}

static uint64_t quantile_step(const struct ep_quantiles *spread, uint64_t rank)
{
	unsigned rows = sizeof(spread->steps) / sizeof(*spread->steps);

	for (unsigned row = 0; row < rows; row++)
		for (unsigned i = 0; spread->steps[row] && i < STEPS; i++) {
			if (spread->steps[row][i] >= rank)
				return middle(spread, row, i);
			rank -= spread->steps[row][i];
		}
	return spread->max;
}

uint64_t ep_quantiles_at(struct ep_quantiles *spread, unsigned percent)
{
	uint64_t rank = spread->count / 100 * percent + (spread->count % 100 * percent + 99) / 100;

	if (!spread->count)
		return 0;
	if (spread->count > EP_QUANTILES_EXACT)
		return rank == spread->count ? spread->max : quantile_step(spread, rank);
	qsort(spread->few, spread->count, sizeof(*spread->few), compare);
	return spread->few[rank - 1];
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* quantiles.c: numbers below 2^7 have a step of their own; above, a number's step is its 8 leading
 * bits, so that a step is at most 1/128 of its numbers. */
#include "decoder/util/quantiles.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"

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

static void add_step(struct ep_quantiles *quantiles, uint64_t value, uint64_t times)
{
	unsigned row = row_of(value);

	if (!quantiles->steps[row])
		quantiles->steps[row] = ep_calloc(STEPS, sizeof(uint64_t));
	quantiles->steps[row][(value >> shift_of(row)) & (STEPS - 1)] += times;
}

/* From now on they are too many. */
static void leave_few(struct ep_quantiles *quantiles)
{
	for (unsigned i = 0; quantiles->few && i < quantiles->count; i++)
		add_step(quantiles, quantiles->few[i], 1);
	free(quantiles->few);
	quantiles->few = NULL;
}

static void add_few(struct ep_quantiles *quantiles, uint64_t value)
{
	if (!quantiles->few)
		quantiles->few = ep_calloc(EP_QUANTILES_EXACT, sizeof(*quantiles->few));
	quantiles->few[quantiles->count] = value;
}

void ep_quantiles_add(struct ep_quantiles *quantiles, uint64_t value)
{
	if (quantiles->count == EP_QUANTILES_EXACT)
		leave_few(quantiles);
	if (quantiles->count < EP_QUANTILES_EXACT)
		add_few(quantiles, value);
	else
		add_step(quantiles, value, 1);
	if (quantiles->count == 0 || value < quantiles->min)
		quantiles->min = value;
	if (value > quantiles->max)
		quantiles->max = value;
	quantiles->count++;
}

void ep_quantiles_add_all(struct ep_quantiles *quantiles, const struct ep_quantiles *from,
			  uint64_t times)
{
	if (from->count <= EP_QUANTILES_EXACT && quantiles->count <= EP_QUANTILES_EXACT &&
	    quantiles->count + from->count * times <= EP_QUANTILES_EXACT) {
		for (uint64_t i = 0; i < from->count * times; i++)
			ep_quantiles_add(quantiles, from->few[i % from->count]);
		return;
	}
	if (quantiles->count <= EP_QUANTILES_EXACT)
		leave_few(quantiles);
	for (unsigned i = 0; from->few && i < from->count; i++)
		add_step(quantiles, from->few[i], times);
	for (unsigned row = 0; row < sizeof(from->steps) / sizeof(*from->steps); row++)
		for (unsigned i = 0; from->steps[row] && i < STEPS; i++)
			if (from->steps[row][i])
				add_step(quantiles,
					 (uint64_t)(row ? i | STEPS : i) << shift_of(row),
					 from->steps[row][i] * times);
	if (from->count && (quantiles->count == 0 || from->min < quantiles->min))
		quantiles->min = from->min;
	if (from->max > quantiles->max)
		quantiles->max = from->max;
	quantiles->count += from->count * times;
}

void ep_quantiles_deinit(struct ep_quantiles *quantiles)
{
	free(quantiles->few);
	for (unsigned i = 0; i < sizeof(quantiles->steps) / sizeof(*quantiles->steps); i++)
		free(quantiles->steps[i]);
}

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

/* The middle of a step, which may lie beyond the numbers in it. */
static uint64_t middle(const struct ep_quantiles *quantiles, unsigned row, unsigned step)
{
	unsigned shift = shift_of(row);
	uint64_t value = (uint64_t)(row ? step | STEPS : step) << shift;

	value += ((UINT64_C(1) << shift) - 1) / 2;
	if (value < quantiles->min)
		return quantiles->min;
	return value < quantiles->max ? value : quantiles->max;
}

static uint64_t quantile_step(const struct ep_quantiles *quantiles, uint64_t rank)
{
	unsigned rows = sizeof(quantiles->steps) / sizeof(*quantiles->steps);

	for (unsigned row = 0; row < rows; row++)
		for (unsigned i = 0; quantiles->steps[row] && i < STEPS; i++) {
			if (quantiles->steps[row][i] >= rank)
				return middle(quantiles, row, i);
			rank -= quantiles->steps[row][i];
		}
	return quantiles->max;
}

uint64_t ep_quantiles_at(struct ep_quantiles *quantiles, unsigned percent)
{
	uint64_t rank =
		quantiles->count / 100 * percent + (quantiles->count % 100 * percent + 99) / 100;

	if (!quantiles->count)
		return 0;
	if (quantiles->count > EP_QUANTILES_EXACT)
		return rank == quantiles->count ? quantiles->max : quantile_step(quantiles, rank);
	qsort(quantiles->few, quantiles->count, sizeof(*quantiles->few), compare);
	return quantiles->few[rank - 1];
}

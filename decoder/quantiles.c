/* SPDX-License-Identifier: BSD-2-Clause */
/* quantiles.c: ranks among few values by sorting, among many by counting. */
#include "decoder/quantiles.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/error.h"

#define STEP_BITS 7
#define STEPS     (1u << STEP_BITS)

/* Values below 2 * STEPS have a step of their own. */
static unsigned power_of(uint64_t value)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);

	return bits > STEP_BITS ? bits - STEP_BITS : 0;
}

static unsigned step_of(uint64_t value, unsigned power)
{
	return (unsigned)(value >> (power ? power - 1 : 0)) & (STEPS - 1);
}

/* The middle of a step. */
static uint64_t value_of(unsigned power, unsigned step)
{
	uint64_t width = UINT64_C(1) << (power ? power - 1 : 0);

	return (step + (power ? STEPS : 0)) * width + width / 2;
}

void ep_quantiles_deinit(struct ep_quantiles *quantiles)
{
	for (unsigned i = 0; i < 64; i++)
		free(quantiles->steps[i]);
	memset(quantiles, 0, sizeof(*quantiles));
}

static int count(struct ep_quantiles *quantiles, uint64_t value)
{
	unsigned power = power_of(value);
	uint32_t **steps = &quantiles->steps[power];

	if (!*steps)
		*steps = calloc(STEPS, sizeof(**steps));
	if (!*steps)
		return EP_E_MEMORY;
	(*steps)[step_of(value, power)]++;
	return EP_OK;
}

/* The few become many. */
static int count_few(struct ep_quantiles *quantiles)
{
	int rc = EP_OK;

	for (unsigned i = 0; !rc && i < EP_QUANTILES_EXACT; i++)
		rc = count(quantiles, quantiles->few[i]);
	if (rc)
		for (unsigned i = 0; i < 64; i++) {
			free(quantiles->steps[i]);
			quantiles->steps[i] = NULL;
		}
	return rc;
}

int ep_quantiles_add(struct ep_quantiles *quantiles, uint64_t value)
{
	uint64_t before = quantiles->count;

	if (before == EP_QUANTILES_EXACT && count_few(quantiles) != EP_OK)
		return EP_E_MEMORY;
	if (before < EP_QUANTILES_EXACT)
		quantiles->few[before] = value;
	else if (count(quantiles, value) != EP_OK)
		return EP_E_MEMORY;
	if (!before || value < quantiles->min)
		quantiles->min = value;
	if (!before || value > quantiles->max)
		quantiles->max = value;
	quantiles->count++;
	return EP_OK;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t among_few(const struct ep_quantiles *quantiles, uint64_t rank)
{
	uint64_t sorted[EP_QUANTILES_EXACT];

	memcpy(sorted, quantiles->few, sizeof(sorted));
	qsort(sorted, quantiles->count, sizeof(*sorted), compare);
	return sorted[rank - 1];
}

static uint64_t among_many(const struct ep_quantiles *quantiles, uint64_t rank)
{
	uint64_t passed = 0;

	for (unsigned power = 0; power < 64; power++) {
		const uint32_t *steps = quantiles->steps[power];

		for (unsigned i = 0; steps && i < STEPS; i++) {
			passed += steps[i];
			if (passed >= rank)
				return value_of(power, i);
		}
	}
	return quantiles->max;
}

uint64_t ep_quantiles_at(const struct ep_quantiles *quantiles,
			 unsigned permille)
{
	uint64_t n = quantiles->count, rank, value;

	if (!n)
		return 0;
	rank = n / 1000 * permille + (n % 1000 * permille + 999) / 1000;
	rank = rank < 1 ? 1 : rank > n ? n : rank;
	value = n <= EP_QUANTILES_EXACT ? among_few(quantiles, rank)
					: among_many(quantiles, rank);
	value = value < quantiles->min ? quantiles->min : value;
	return value > quantiles->max ? quantiles->max : value;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* sort.c: a radix sort of the addresses, least digit first; then those with the same address among
 * themselves. */
#include "decoder/util/sort.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

#define WORTH_IT   256u /* fewer are qsort's */
#define DIGIT_BITS 11u
#define DIGITS     (1u << DIGIT_BITS)

struct keyed {
	uint64_t key; /* above the lowest address */
	size_t index;
};

static uint64_t address_of(const char *element)
{
	uint64_t address;

	memcpy(&address, element, sizeof(address));
	return address;
}

static bool in_order(const char *list, size_t count, size_t size,
		     int (*compare)(const void *, const void *))
{
	for (size_t i = 1; i < count; i++)
		if (compare(list + (i - 1) * size, list + i * size) > 0)
			return false;
	return true;
}

static void sort_by_digit(const struct keyed *from, struct keyed *to, size_t count, unsigned shift)
{
	size_t starts[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		starts[from[i].key >> shift & (DIGITS - 1)]++;
	for (unsigned digit = 0; digit < DIGITS; digit++) {
		size_t here = starts[digit];

		starts[digit] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* Fills `keys`; the sorted ones are there, or in `spare`: what is returned. */
static const struct keyed *sort_keys(struct keyed *keys, struct keyed *spare, const char *list,
				     size_t count, size_t size)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t address = address_of(list + i * size);

		low = address < low ? address : low;
		high = address > high ? address : high;
	}
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct keyed){address_of(list + i * size) - low, i};
	for (unsigned shift = 0; shift < 64 && (high - low) >> shift; shift += DIGIT_BITS) {
		struct keyed *from = keys;

		sort_by_digit(from, spare, count, shift);
		keys = spare;
		spare = from;
	}
	return keys;
}

static void sort_equals(char *list, size_t count, size_t size,
			int (*compare)(const void *, const void *))
{
	for (size_t i = 0, same; i < count; i += same) {
		uint64_t address = address_of(list + i * size);

		same = 1;
		while (i + same < count && address_of(list + (i + same) * size) == address)
			same++;
		if (same > 1)
			qsort(list + i * size, same, size, compare);
	}
}

static void sort_all(char *list, size_t count, size_t size)
{
	struct keyed *keys = ep_reallocarray(NULL, count, 2 * sizeof(*keys));
	const struct keyed *order = sort_keys(keys, keys + count, list, count, size);
	char *sorted = ep_reallocarray(NULL, count, size);

	for (size_t i = 0; i < count; i++)
		memcpy(sorted + i * size, list + order[i].index * size, size);
	memcpy(list, sorted, count * size);
	free(keys);
	free(sorted);
}

void ep_sort_by_address(void *list, size_t count, size_t size,
			int (*compare)(const void *, const void *))
{
	if (in_order(list, count, size, compare))
		return;
	if (count < WORTH_IT) {
		qsort(list, count, size, compare);
		return;
	}
	sort_all(list, count, size);
	sort_equals(list, count, size, compare);
}

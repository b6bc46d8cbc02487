/* SPDX-License-Identifier: BSD-2-Clause */
/* sort.h: long lists of things with an address, in order of it. */
#ifndef EPITAPH_SORT_H
#define EPITAPH_SORT_H

#include <stddef.h>

/*
 * As qsort. Each element begins with a uint64_t, by which `compare`
 * orders first of all: one that is in order already takes one look at each, and others a few, where
 * qsort takes 17 comparisons for 100,000. `list` may be NULL when there is none.
 */
void ep_sort_by_address(void *list, size_t count, size_t size,
			int (*compare)(const void *, const void *));

#endif

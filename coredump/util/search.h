/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search.h: where something lies in what is in order:
 *
 *   size_t behind = ep_partition_point(count, i, list[i].start <= address);
 */
#ifndef EPITAPH_SEARCH_H
#define EPITAPH_SEARCH_H

#include <stddef.h>

/* How many of `count` items come before the point: `is_before`, in which `index` is an item's
 * number, holds for those, and for none behind them. It is evaluated log2(count) times. */
#define ep_partition_point(count, index, is_before)                              \
	({                                                                       \
		size_t point_low = 0, point_high = (count);                      \
		while (point_low < point_high) {                                 \
			size_t index = point_low + (point_high - point_low) / 2; \
			if (is_before)                                           \
				point_low = index + 1;                           \
			else                                                     \
				point_high = index;                              \
		}                                                                \
		point_low;                                                       \
	})

#endif

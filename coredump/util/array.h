/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * array.h: an array that grows. Zeroes are an empty one:
 *
 *   EP_ARRAY(struct ep_range) ranges = {0};
 *   ep_array_add(&ranges)->start = 4096;
 *   for (size_t i = 0; i < ranges.count; i++) … ranges.list[i] …
 *   ep_array_deinit(&ranges);
 *
 * Any struct with members `list`, `count` and `capacity` is one. An addition may move the list:
 * pointers into it hold until then. Each macro evaluates its arguments once.
 */
#ifndef EPITAPH_ARRAY_H
#define EPITAPH_ARRAY_H

#include <stdlib.h>
#include <string.h>

#define EP_ARRAY(type)                  \
	struct {                        \
		type *list;             \
		size_t count, capacity; \
	}

/* Room for `wanted` items. Twice as much as before at least, so that additions one by one cost a
 * constant each. */
#define ep_array_reserve(array, wanted)                                                         \
	({                                                                                      \
		__typeof__(array) to_reserve = (array);                                         \
		size_t room_wanted = (wanted), room = to_reserve->capacity;                     \
		if (room_wanted > room) {                                                       \
			to_reserve->list = ep_array_grown(to_reserve->list, &room, room_wanted, \
							  sizeof(*to_reserve->list));           \
			to_reserve->capacity = room;                                            \
		}                                                                               \
	})

/* One item more: its address. What is in it is undefined. */
#define ep_array_slot(array)                                         \
	({                                                           \
		__typeof__(array) to_add = (array);                  \
		ep_array_reserve(to_add, (size_t)to_add->count + 1); \
		&to_add->list[to_add->count++];                      \
	})

/* One item more, all zero: its address. */
#define ep_array_add(array)                                            \
	({                                                             \
		__typeof__((array)->list) slot = ep_array_slot(array); \
		memset(slot, 0, sizeof(*slot));                        \
		slot;                                                  \
	})

/* The item may be made from what is in the list. */
#define ep_array_push(array, item)                          \
	({                                                  \
		__typeof__(*(array)->list) pushed = (item); \
		*ep_array_slot(array) = pushed;             \
	})

/* qsort(3), which must not be given the NULL of an empty array. */
#define ep_array_sort(array, compare)                                                          \
	({                                                                                     \
		__typeof__(array) to_sort = (array);                                           \
		if (to_sort->count)                                                            \
			qsort(to_sort->list, to_sort->count, sizeof(*to_sort->list), compare); \
	})

/* Frees the list and nothing that its items own; empty afterwards. */
#define ep_array_deinit(array)                          \
	({                                              \
		__typeof__(array) to_free = (array);    \
		free(to_free->list);                    \
		to_free->list = NULL;                   \
		to_free->count = to_free->capacity = 0; \
	})

/* For the macros above. */
void *ep_array_grown(void *list, size_t *capacity, size_t wanted, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* array.c: how much an array grows. */
#include "coredump/util/array.h"

#include "coredump/util/alloc.h"

#define FIRST 16

void *ep_array_grown(void *list, size_t *capacity, size_t wanted, size_t size)
{
	size_t twice = *capacity > FIRST / 2 ? 2 * *capacity : FIRST;

	*capacity = wanted > twice ? wanted : twice;
	return ep_reallocarray(list, *capacity, size);
}

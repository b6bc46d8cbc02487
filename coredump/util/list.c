/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c: an array that grows. */
#include "coredump/util/list.h"

#include <stdlib.h>

bool ep_list_grow(void *array, size_t count, size_t *capacity, size_t size)
{
	void **slot = array;
	size_t more = *capacity ? 2 * *capacity : 16;
	void *grown;

	if (count < *capacity)
		return true;
	grown = reallocarray(*slot, more, size);
	if (!grown)
		return false;
	*slot = grown;
	*capacity = more;
	return true;
}

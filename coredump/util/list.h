/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.h: an array that grows: of what, where it lies and how much of it is in use is its owner's.
 */
#ifndef EPITAPH_LIST_H
#define EPITAPH_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for one more in *array of `count` items of `size` bytes. False: out of memory, nothing
 * changed. */
bool ep_list_grow(void *array, size_t count, size_t *capacity, size_t size);

#endif

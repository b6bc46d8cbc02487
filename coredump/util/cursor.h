/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cursor.h: the one way to take bytes from outside apart. A cursor never reads past its end, and
 * does not advance on failure. Inline and cheap: a failed read answers EP_E_TRUNCATED and leaves
 * the output untouched.
 */
#ifndef EPITAPH_CURSOR_H
#define EPITAPH_CURSOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "coredump/util/error.h"

struct ep_cursor {
	const uint8_t *at;  /* borrowed: next byte */
	const uint8_t *end; /* borrowed: one past the last */
	const uint8_t *start;
};

static inline void ep_cursor_init(struct ep_cursor *cursor, const void *bytes, size_t size)
{
	cursor->start = cursor->at = bytes;
	cursor->end = cursor->start + size;
}

static inline size_t ep_cursor_left(const struct ep_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static inline size_t ep_cursor_offset(const struct ep_cursor *cursor)
{
	return (size_t)(cursor->at - cursor->start);
}

/* Goes to `offset` bytes from the start; the end itself is allowed. */
static inline int ep_cursor_seek(struct ep_cursor *cursor, uint64_t offset)
{
	if (offset > (uint64_t)(cursor->end - cursor->start))
		return EP_E_TRUNCATED;
	cursor->at = cursor->start + offset;
	return EP_OK;
}

static inline int ep_cursor_skip(struct ep_cursor *cursor, uint64_t size)
{
	if (size > ep_cursor_left(cursor))
		return EP_E_TRUNCATED;
	cursor->at += size;
	return EP_OK;
}

/* Copies `size` bytes out: no alignment is needed. */
static inline int ep_cursor_take(struct ep_cursor *cursor, void *out, uint64_t size)
{
	if (size > ep_cursor_left(cursor))
		return EP_E_TRUNCATED;
	memcpy(out, cursor->at, size);
	cursor->at += size;
	return EP_OK;
}

/* *out borrows `size` bytes in place. */
static inline int ep_cursor_view(struct ep_cursor *cursor, const uint8_t **out, uint64_t size)
{
	if (size > ep_cursor_left(cursor))
		return EP_E_TRUNCATED;
	*out = cursor->at;
	cursor->at += size;
	return EP_OK;
}

#endif

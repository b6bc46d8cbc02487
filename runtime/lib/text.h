/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h: bytes and bounded text without libc: the program may have replaced libc's functions by
 * traced ones, and they may use vector registers, which a hook must leave alone. All of it is
 * async-signal-safe.
 */
#ifndef EPITAPH_TEXT_H
#define EPITAPH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One instruction each, so that no compiler turns them into a call. */
static inline void ep_bytes_copy(void *to, const void *from, size_t size)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static inline void ep_bytes_zero(void *to, size_t size)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(0) : "memory");
}

bool ep_bytes_equal(const void *a, const void *b, size_t size);

size_t ep_string_length(const char *string);
bool ep_string_equal(const char *a, const char *b);
bool ep_string_starts(const char *string, const char *start);

/*
 * Text that grows in a caller's buffer, always NUL-terminated. What does not fit is left out and
 * `cut` says so.
 */
struct ep_text {
	char *bytes;
	size_t size; /* of the buffer, at least 1 */
	size_t used; /* without the NUL; < size */
	bool cut;
};

void ep_text_init(struct ep_text *text, char *bytes, size_t size);
void ep_text_add(struct ep_text *text, const char *string);
void ep_text_add_bytes(struct ep_text *text, const char *bytes, size_t size);
void ep_text_add_number(struct ep_text *text, uint64_t number); /* decimal */

/*
 * Reads digits of `base` (10 or 16) from *at up to `end` and moves *at past them. False, *at
 * untouched: no digit there, or more than 64 bits.
 */
bool ep_text_number(const char **at, const char *end, unsigned base, uint64_t *number);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* hex.h: bytes, such as a build-id, as people write them. */
#ifndef EPITAPH_HEX_H
#define EPITAPH_HEX_H

#include <stddef.h>
#include <stdint.h>

/* `out` has room for 2 * size + 1. Returns it. */
static inline const char *ep_hex(char *out, const void *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *from = bytes;

	for (size_t i = 0; i < size; i++) {
		out[2 * i] = digits[from[i] >> 4];
		out[2 * i + 1] = digits[from[i] & 15];
	}
	out[2 * size] = '\0';
	return out;
}

#endif

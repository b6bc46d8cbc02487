/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outbuf.h: bytes on their way to a FILE, gathered here because millions of small stdio calls cost
 * more than decoding does. The first write error sticks, with its errno, and is told by
 * ep_outbuf_finish; what follows is dropped.
 */
#ifndef EPITAPH_OUTBUF_H
#define EPITAPH_OUTBUF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EP_OUTBUF_SIZE 65536u

struct ep_outbuf {
	FILE *file; /* borrowed */
	int failed; /* errno of the first failure */
	uint32_t used;
	char bytes[EP_OUTBUF_SIZE];
};

void ep_outbuf_init(struct ep_outbuf *out, FILE *file);
/* 0, or -1 with errno; flushes the file, too. */
int ep_outbuf_finish(struct ep_outbuf *out);

void ep_outbuf_put_slow(struct ep_outbuf *out, const char *bytes, size_t size);
static inline void ep_outbuf_put(struct ep_outbuf *out, const char *bytes, size_t size)
{
	if (size > EP_OUTBUF_SIZE - out->used) {
		ep_outbuf_put_slow(out, bytes, size);
		return;
	}
	memcpy(out->bytes + out->used, bytes, size);
	out->used += (uint32_t)size;
}

static inline void ep_outbuf_text(struct ep_outbuf *out, const char *text)
{
	ep_outbuf_put(out, text, strlen(text));
}

/* Numbers as text that ends before `end`; where it begins. At most EP_DIGITS_SIZE bytes. */
#define EP_DIGITS_SIZE 32u
char *ep_digits_uint(char *end, uint64_t value);
char *ep_digits_int(char *end, int64_t value);
char *ep_digits_hex(char *end, uint64_t value);       /* 0x1f */
char *ep_digits_thousandth(char *end, int64_t value); /* value / 1000 with three decimals */

void ep_outbuf_uint(struct ep_outbuf *out, uint64_t value);
void ep_outbuf_int(struct ep_outbuf *out, int64_t value);
void ep_outbuf_hex(struct ep_outbuf *out, uint64_t value); /* 0x1f */
/* value / 1000 with three decimals: ns → us, exactly. */
void ep_outbuf_thousandth(struct ep_outbuf *out, int64_t value);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* chunk.c: bytes → zlib → base64 → an element of the page. */
#include <stdlib.h>
#include <zlib.h>

#include "coredump/util/alloc.h"
#include "decoder/export/html/html.h"

#define LEVEL 6

void ep_html_put(struct ep_html_bytes *bytes, const void *from, size_t size)
{
	ep_array_reserve(bytes, bytes->count + size);
	memcpy(bytes->list + bytes->count, from, size);
	bytes->count += size;
}

void ep_html_uint(struct ep_html_bytes *bytes, uint64_t value)
{
	ep_array_reserve(bytes, bytes->count + 10);
	for (; value >= 128; value >>= 7)
		bytes->list[bytes->count++] = (uint8_t)(value | 128);
	bytes->list[bytes->count++] = (uint8_t)value;
}

void ep_html_int(struct ep_html_bytes *bytes, int64_t value)
{
	ep_html_uint(bytes, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

void ep_html_text(struct ep_html_bytes *bytes, const char *text)
{
	size_t size = strlen(text);

	ep_html_uint(bytes, size);
	if (size)
		ep_html_put(bytes, text, size);
}

static void put_base64(struct ep_outbuf *out, const uint8_t *from, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t i = 0;

	for (; i < size; i += 3) {
		uint32_t left = (uint32_t)(size - i);
		uint32_t word = (uint32_t)from[i] << 16 |
				(left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
				(left > 2 ? from[i + 2] : 0);
		const char four[4] = {digits[word >> 18], digits[word >> 12 & 63],
				      left > 1 ? digits[word >> 6 & 63] : '=',
				      left > 2 ? digits[word & 63] : '='};

		ep_outbuf_put(out, four, 4);
	}
}

void ep_html_chunk(struct ep_outbuf *out, const struct ep_html_bytes *bytes)
{
	uLongf size = compressBound(bytes->count);
	uint8_t *compressed = ep_malloc(size);

	/* With that much room, memory alone can fail it. */
	if (compress2(compressed, &size, bytes->list, bytes->count, LEVEL) != Z_OK)
		ep_out_of_memory();
	ep_outbuf_text(out, "<script type=\"epitaph/1\">");
	put_base64(out, compressed, size);
	ep_outbuf_text(out, "</script>\n");
	free(compressed);
}

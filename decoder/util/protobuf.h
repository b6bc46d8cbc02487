/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * protobuf.h: one message in the wire format of protocol buffers, in memory, with messages inside
 * of it. Source of the format: protobuf.dev, "Encoding": a field is a varint of its number << 3 |
 * wire type, then its value.
 *
 *   ep_protobuf_reset(&message);
 *   ep_protobuf_open(&message, 1);
 *   ep_protobuf_uint(&message, 8, time);
 *   ep_protobuf_close(&message);
 *   ep_outbuf_put(out, message.bytes, message.used);
 *
 * Zeroes are an empty one. Field numbers are 1 to 2047, in the order in which they are written.
 */
#ifndef EPITAPH_PROTOBUF_H
#define EPITAPH_PROTOBUF_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EP_PROTOBUF_DEPTH  8  /* messages inside of each other */
#define EP_PROTOBUF_VARINT 10 /* bytes of the longest number */

struct ep_protobuf {
	char *bytes;                      /* owned */
	size_t used, room;                /* bytes */
	size_t opened[EP_PROTOBUF_DEPTH]; /* where the contents of open messages begin */
	unsigned depth;
};

void ep_protobuf_deinit(struct ep_protobuf *message);
void ep_protobuf_grow_slow(struct ep_protobuf *message, size_t wanted);

static inline void ep_protobuf_reset(struct ep_protobuf *message)
{
	message->used = 0;
	message->depth = 0;
}

/* Room for so many bytes more. */
static inline void ep_protobuf_reserve(struct ep_protobuf *message, size_t size)
{
	if (size > message->room - message->used)
		ep_protobuf_grow_slow(message, size);
}

static inline size_t ep_varint_put(char *out, uint64_t value)
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		out[size++] = (char)(value | 0x80);
	out[size++] = (char)value;
	return size;
}

static inline void ep_protobuf_varint(struct ep_protobuf *message, uint64_t value)
{
	ep_protobuf_reserve(message, EP_PROTOBUF_VARINT);
	message->used += ep_varint_put(message->bytes + message->used, value);
}

/* uint32, uint64, bool, enum; of int32 and int64 the two's complement, sign-extended to 64 bits. */
static inline void ep_protobuf_uint(struct ep_protobuf *message, uint32_t field, uint64_t value)
{
	ep_protobuf_varint(message, field << 3);
	ep_protobuf_varint(message, value);
}

void ep_protobuf_fixed64(struct ep_protobuf *message, uint32_t field, uint64_t value);
void ep_protobuf_double(struct ep_protobuf *message, uint32_t field, double value);
/* A string, which has to be UTF-8: each byte that is none becomes U+FFFD. */
void ep_protobuf_text(struct ep_protobuf *message, uint32_t field, const char *text);

/* A message inside: fields up to its close are its own. */
static inline void ep_protobuf_open(struct ep_protobuf *message, uint32_t field)
{
	assert(message->depth < EP_PROTOBUF_DEPTH);
	ep_protobuf_varint(message, field << 3 | 2);
	ep_protobuf_reserve(message, 1);
	message->used++; /* its length, where that is below 128 */
	message->opened[message->depth++] = message->used;
}

void ep_protobuf_close_slow(struct ep_protobuf *message, size_t begin);
static inline void ep_protobuf_close(struct ep_protobuf *message)
{
	size_t begin = message->opened[--message->depth];

	if (message->used - begin < 0x80)
		message->bytes[begin - 1] = (char)(message->used - begin);
	else
		ep_protobuf_close_slow(message, begin);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* protobuf.c: a message's length stands before it: one byte is left free for it, and what is longer
 * than that tells is moved. */
#include "decoder/util/protobuf.h"

#include <endian.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"

void ep_protobuf_deinit(struct ep_protobuf *message)
{
	free(message->bytes);
	*message = (struct ep_protobuf){0};
}

void ep_protobuf_grow_slow(struct ep_protobuf *message, size_t wanted)
{
	size_t room = message->room ? message->room : 256;

	while (room - message->used < wanted)
		room *= 2;
	message->bytes = ep_reallocarray(message->bytes, room, 1);
	message->room = room;
}

void ep_protobuf_fixed64(struct ep_protobuf *message, uint32_t field, uint64_t value)
{
	uint64_t little = htole64(value);

	ep_protobuf_varint(message, field << 3 | 1);
	ep_protobuf_reserve(message, sizeof(little));
	memcpy(message->bytes + message->used, &little, sizeof(little));
	message->used += sizeof(little);
}

void ep_protobuf_double(struct ep_protobuf *message, uint32_t field, double value)
{
	uint64_t bits;

	static_assert(sizeof(bits) == sizeof(value), "IEEE 754");
	memcpy(&bits, &value, sizeof(bits));
	ep_protobuf_fixed64(message, field, bits);
}

static void put(struct ep_protobuf *message, const char *bytes, size_t size)
{
	ep_protobuf_reserve(message, size);
	memcpy(message->bytes + message->used, bytes, size);
	message->used += size;
}

void ep_protobuf_text(struct ep_protobuf *message, uint32_t field, const char *text)
{
	size_t size = strlen(text);

	ep_protobuf_open(message, field);
	while (size) {
		size_t length = ep_utf8_length(text, size);

		if (length)
			put(message, text, length);
		else
			put(message, "\xef\xbf\xbd", 3);
		length += !length;
		text += length;
		size -= length;
	}
	ep_protobuf_close(message);
}

void ep_protobuf_close_slow(struct ep_protobuf *message, size_t begin)
{
	size_t size = message->used - begin, more;
	char length[EP_PROTOBUF_VARINT];

	more = ep_varint_put(length, size) - 1;
	ep_protobuf_reserve(message, more);
	memmove(message->bytes + begin + more, message->bytes + begin, size);
	memcpy(message->bytes + begin - 1, length, more + 1);
	message->used += more;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames_table.c: one pass over .eh_frame. Each entry is at least as long as its length word, so
 * the pass ends; a CIE is parsed again only when an FDE names another one than the last did.
 */
#include "decoder/symbols/frames_table.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "coredump/util/array.h"
#include "coredump/util/cursor.h"

struct table {
	EP_ARRAY(struct ep_frame_range) ranges;
	const uint8_t *bytes;
	size_t size;
	uint64_t address; /* of bytes[0], in the file */
	size_t cie;       /* the last CIE that was parsed, if cie_known */
	bool cie_known;
	uint8_t encoding; /* its pointer encoding; DW_EH_PE_omit: unusable */
};

static int skip_leb128(struct ep_cursor *cursor)
{
	uint8_t byte;

	do {
		if (ep_cursor_take(cursor, &byte, 1) != EP_OK)
			return EP_E_TRUNCATED;
	} while (byte & 0x80);
	return EP_OK;
}

/* The usual size by itself: a copy whose size is known is an instruction. */
static int take_number(struct ep_cursor *cursor, size_t size, uint64_t *out)
{
	return size == 4 ? ep_cursor_take(cursor, out, 4) : ep_cursor_take(cursor, out, size);
}

/* A pointer's bytes in the form of `encoding`, without what it counts from. */
static int read_value(struct ep_cursor *cursor, uint8_t encoding, uint64_t *out)
{
	static const uint8_t sizes[16] = {
		[DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4,
		[DW_EH_PE_udata8] = 8, [DW_EH_PE_sdata2] = 2, [DW_EH_PE_sdata4] = 4,
		[DW_EH_PE_sdata8] = 8,
	};
	size_t size = sizes[encoding & 0x0f];
	uint64_t value = 0;

	if (size == 0)
		return EP_E_CORRUPT;
	if (take_number(cursor, size, &value) != EP_OK)
		return EP_E_TRUNCATED;
	if ((encoding & DW_EH_PE_signed) && size < 8 && value >> (8 * size - 1))
		value |= ~UINT64_C(0) << (8 * size);
	*out = value;
	return EP_OK;
}

/* What the letters of the augmentation announce, up to R: the encoding. */
static int read_augmentation(struct ep_cursor *cursor, const char *letters, uint8_t *encoding)
{
	uint64_t ignored;
	uint8_t byte;

	for (; *letters; letters++) {
		if (*letters == 'R')
			return ep_cursor_take(cursor, encoding, 1);
		if (*letters == 'S' || *letters == 'B')
			continue;
		if ((*letters != 'L' && *letters != 'P') ||
		    ep_cursor_take(cursor, &byte, 1) != EP_OK)
			return EP_E_CORRUPT;
		if (*letters == 'P' && read_value(cursor, byte, &ignored) != EP_OK)
			return EP_E_CORRUPT;
	}
	*encoding = DW_EH_PE_absptr;
	return EP_OK;
}

/* The body of a CIE, from its version on. */
static int parse_cie(struct ep_cursor *cursor, uint8_t *encoding)
{
	const char *letters = NULL;
	size_t length;
	uint8_t version, byte;

	if (ep_cursor_take(cursor, &version, 1) != EP_OK || (version != 1 && version != 3))
		return EP_E_CORRUPT;
	letters = (const char *)cursor->at;
	length = strnlen(letters, ep_cursor_left(cursor));
	if (ep_cursor_skip(cursor, length + 1) != EP_OK)
		return EP_E_TRUNCATED;
	if (skip_leb128(cursor) != EP_OK || skip_leb128(cursor) != EP_OK)
		return EP_E_TRUNCATED;
	if ((version == 1 ? ep_cursor_take(cursor, &byte, 1) : skip_leb128(cursor)) != EP_OK)
		return EP_E_TRUNCATED;
	*encoding = DW_EH_PE_absptr;
	if (letters[0] != 'z')
		return letters[0] ? EP_E_CORRUPT : EP_OK;
	if (skip_leb128(cursor) != EP_OK)
		return EP_E_TRUNCATED;
	return read_augmentation(cursor, letters + 1, encoding);
}

/* The next entry: its body's cursor from the id word on. EP_END at the terminator or the section's
 * end. */
static int next_entry(struct ep_cursor *section, struct ep_cursor *body)
{
	uint32_t length;
	uint64_t size;
	const uint8_t *view;

	if (ep_cursor_left(section) == 0)
		return EP_END;
	if (ep_cursor_take(section, &length, 4) != EP_OK)
		return EP_E_TRUNCATED;
	if (length == 0)
		return EP_END;
	size = length;
	if (length == 0xffffffff && ep_cursor_take(section, &size, 8) != EP_OK)
		return EP_E_TRUNCATED;
	if (ep_cursor_view(section, &view, size) != EP_OK)
		return EP_E_TRUNCATED;
	ep_cursor_init(body, view, size);
	return EP_OK;
}

/* The pointer encoding of the CIE at `offset`; remembered. */
static uint8_t encoding_of(struct table *table, size_t offset)
{
	struct ep_cursor section, body;
	uint32_t id;

	if (table->cie_known && table->cie == offset)
		return table->encoding;
	table->cie = offset;
	table->cie_known = true;
	table->encoding = DW_EH_PE_omit;
	ep_cursor_init(&section, table->bytes, table->size);
	if (ep_cursor_seek(&section, offset) == EP_OK && next_entry(&section, &body) == EP_OK &&
	    ep_cursor_take(&body, &id, 4) == EP_OK && id == 0 &&
	    parse_cie(&body, &table->encoding) != EP_OK)
		table->encoding = DW_EH_PE_omit;
	return table->encoding;
}

static void add_range(struct table *table, uint64_t start, uint64_t length)
{
	uint64_t end;

	if (length && !__builtin_add_overflow(start, length, &end))
		ep_array_push(&table->ranges, ((struct ep_frame_range){start, end}));
}

/* An FDE, whose id word `distance` leads back to its CIE. */
static int parse_fde(struct table *table, struct ep_cursor *body, uint32_t distance)
{
	size_t id_at = (size_t)(body->start - table->bytes);
	uint64_t place, start, length;
	uint8_t encoding;

	if (distance > id_at)
		return EP_E_CORRUPT;
	encoding = encoding_of(table, id_at - distance);
	if (encoding == DW_EH_PE_omit || (encoding & DW_EH_PE_indirect))
		return EP_OK;
	place = table->address + (uint64_t)(body->at - table->bytes);
	if (read_value(body, encoding, &start) != EP_OK ||
	    read_value(body, encoding & 0x07, &length) != EP_OK)
		return EP_E_CORRUPT;
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		start += place;
	else if ((encoding & 0x70) != 0)
		return EP_OK;
	add_range(table, start, length);
	return EP_OK;
}

int ep_frames_table_read(struct ep_frame_range **out, size_t *count, const void *bytes, size_t size,
			 uint64_t address, struct ep_err *err)
{
	struct table table = {.bytes = bytes, .size = size, .address = address};
	struct ep_cursor section, body;
	uint32_t id;
	int code;

	ep_cursor_init(&section, bytes, size);
	while ((code = next_entry(&section, &body)) == EP_OK) {
		code = ep_cursor_take(&body, &id, 4);
		if (code == EP_OK && id != 0)
			code = parse_fde(&table, &body, id);
		if (code != EP_OK)
			break;
	}
	*out = table.ranges.list;
	*count = table.ranges.count;
	if (code < 0)
		return ep_fail(err, EP_E_CORRUPT, ep_cursor_offset(&section),
			       ".eh_frame: nonsense before 0x%zx of 0x%zx",
			       ep_cursor_offset(&section), size);
	return EP_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* value_wide.c: characters of two and four bytes, as UTF-8. */
#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "coredump/util/utf8.h"
#include "decoder/symbols/value_impl.h"

#define HOPS_MAX 16u

/* wchar_t is an int by another name: the typedef tells. */
static bool is_named(Dwarf_Die type, const char *name)
{
	for (unsigned i = 0; i < HOPS_MAX; i++) {
		const char *has = dwarf_diename(&type);

		if (has && strcmp(has, name) == 0)
			return true;
		if (dwarf_tag(&type) == DW_TAG_base_type || !ep_type_of(&type, &type))
			return false;
	}
	return false;
}

char ep_value_wide_text(Dwarf_Die type)
{
	uint64_t size;

	if (!ep_type_size(&type, &size))
		return 0;
	if (size == 4 && is_named(type, "wchar_t"))
		return 'L';
	if (size == 2 && is_named(type, "char16_t"))
		return 'u';
	return size == 4 && is_named(type, "char32_t") ? 'U' : 0;
}

/* As UTF-8; 0: it is no character. */
static size_t encode(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return c < 0xd800 || c > 0xdfff ? 3 : 0;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return c < 0x110000 ? 4 : 0;
}

static void put(struct ep_value_printer *p, uint32_t c, char quote)
{
	char text[4];
	size_t size = encode(c, text);

	if (size == 1)
		ep_value_put_character(p, (unsigned char)c, quote);
	else if (size && !ep_utf8_is_control(text, size))
		ep_value_put(p, "%.*s", (int)size, text);
	else
		ep_value_put(p, "\\x%" PRIx32, c);
}

void ep_value_put_wide_character(struct ep_value_printer *p, Dwarf_Die type, uint64_t number)
{
	ep_value_put(p, " %c'", ep_value_wide_text(type));
	put(p, (uint32_t)number, '\'');
	ep_value_put(p, "'");
}

static bool is_high(uint32_t unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

/* The character at *i, which goes past it; false: the memory says why, or it is the NUL. */
static bool next(struct ep_value_printer *p, struct ep_value_part part, uint64_t size,
		 uint64_t most, uint64_t *i, uint32_t *out, int *code)
{
	uint32_t low = 0;

	*out = 0;
	*code = ep_value_fetch(p, ep_value_moved(part, *i * size), out, size);
	if (*code != EP_OK || *out == 0)
		return false;
	++*i;
	if (size == 2 && is_high(*out) && *i < most &&
	    ep_value_fetch(p, ep_value_moved(part, *i * size), &low, size) == EP_OK &&
	    low >= 0xdc00 && low < 0xe000) {
		*out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
		++*i;
	}
	return true;
}

void ep_value_put_wide_text(struct ep_value_printer *p, Dwarf_Die type, struct ep_value_part part,
			    uint64_t most)
{
	char letter = ep_value_wide_text(type);
	uint64_t size = letter == 'u' ? 2 : 4, i = 0;
	bool limited = most > EP_VALUE_STRING_MAX;
	uint32_t character;
	int code;

	if (limited)
		most = EP_VALUE_STRING_MAX;
	if (!ep_value_take(p, part, &character, size))
		return;
	ep_value_put(p, "%c\"", letter);
	code = EP_OK;
	while (i < most && ep_value_step(p) && next(p, part, size, most, &i, &character, &code))
		put(p, character, '"');
	ep_value_put(p, code != EP_OK || (i == most && limited) ? "\"..." : "\"");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* value_scalar.c: what has no parts: text, numbers, enumerators; and where their bytes come from.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/utf8.h"
#include "decoder/symbols/value_impl.h"

/* ---- text ---- */

void ep_value_put(struct ep_value_printer *p, const char *format, ...)
{
	size_t room = sizeof(p->text) - p->used;
	va_list list;
	int size;

	if (p->full)
		return;
	va_start(list, format);
	size = vsnprintf(p->text + p->used, room, format, list);
	va_end(list);
	if (size < 0 || (size_t)size >= room) {
		p->full = true;
		p->used = sizeof(p->text) - 1;
	} else {
		p->used += (size_t)size;
	}
}

bool ep_value_step(struct ep_value_printer *p)
{
	if (p->steps++ >= EP_VALUE_STEPS)
		p->full = true;
	return !p->full;
}

/* Entries are paid for by their size: libdw goes through all that lies below them. */
#define STEP_BYTES 256u

bool ep_value_next_child(struct ep_value_printer *p, struct ep_type_walk *walk, Dwarf_Die *parent)
{
	uint64_t before = walk->bytes;

	if (p->full || !ep_type_child(walk, parent))
		return false;
	p->steps += (unsigned)((walk->bytes - before) / STEP_BYTES);
	return ep_value_step(p);
}

/* ---- bytes ---- */

int ep_value_fetch(struct ep_value_printer *p, struct ep_value_part part, void *out, size_t size)
{
	const struct ep_location *location = p->location;

	if (part.elsewhere || location->kind == EP_LOCATION_MEMORY)
		return p->frame->read(p->frame->context,
				      part.elsewhere ? part.at : location->address + part.at, out,
				      size);
	if (part.at > location->size || size > location->size - part.at)
		return EP_END;
	for (size_t i = 0; i < size; i++)
		if (location->missing[part.at + i])
			return EP_END;
	memcpy(out, location->bytes + part.at, size);
	return EP_OK;
}

const char *ep_value_failure(int code)
{
	switch (code) {
	case EP_END:
		return EP_VALUE_OPTIMIZED_OUT;
	case EP_E_UNMAPPED:
		return "<not mapped>";
	case EP_E_UNSAVED:
		return "<not saved in the core>";
	case EP_E_TRUNCATED:
		return "<cut off in the core>";
	case EP_E_PERMISSION:
		return "<left out>";
	default:
		return "<cannot be read>";
	}
}

bool ep_value_take(struct ep_value_printer *p, struct ep_value_part part, void *out, size_t size)
{
	int code = ep_value_fetch(p, part, out, size);

	if (code != EP_OK)
		ep_value_put(p, "%s", ep_value_failure(code));
	else
		p->known = true;
	return code == EP_OK;
}

/* ---- characters and strings ---- */

void ep_value_put_character(struct ep_value_printer *p, unsigned char c, char quote)
{
	static const char named[] = "\a\b\t\n\v\f\r\033", letters[] = "abtnvfre";
	const char *found = c ? strchr(named, c) : NULL;

	if (c == (unsigned char)quote || c == '\\')
		ep_value_put(p, "\\%c", c);
	else if (found && c == '\033')
		ep_value_put(p, "\\033");
	else if (found)
		ep_value_put(p, "\\%c", letters[found - named]);
	else if (c < 0x20 || c == 0x7f)
		ep_value_put(p, "\\%03o", c);
	else
		ep_value_put(p, "%c", c);
}

void ep_value_put_string(struct ep_value_printer *p, const char *text, size_t size, bool more)
{
	ep_value_put(p, "\"");
	for (size_t i = 0, length; i < size && !p->full; i += length) {
		length = ep_utf8_length(text + i, size - i);
		if (length > 1 && !ep_utf8_is_control(text + i, length)) {
			ep_value_put(p, "%.*s", (int)length, text + i);
		} else if (length == 1) {
			ep_value_put_character(p, (unsigned char)text[i], '"');
		} else {
			ep_value_put(p, "\\%03o", (unsigned char)text[i]);
			length = 1;
		}
	}
	ep_value_put(p, more ? "\"..." : "\"");
}

/* Reads it at once, and where that fails byte by byte, as far as there are any. */
int ep_value_fetch_string(struct ep_value_printer *p, struct ep_value_part part,
			  char out[EP_VALUE_STRING_MAX], size_t most, size_t *size, bool *end)
{
	size_t wanted = most < EP_VALUE_STRING_MAX ? most : EP_VALUE_STRING_MAX;
	int code = ep_value_fetch(p, part, out, wanted);

	*size = code == EP_OK ? wanted : 0;
	while (code != EP_OK && *size < wanted &&
	       ep_value_fetch(p, ep_value_moved(part, *size), &out[*size], 1) == EP_OK &&
	       ep_value_step(p))
		++*size;
	wanted = *size;
	*size = strnlen(out, wanted);
	*end = *size < wanted;
	return wanted ? EP_OK : code;
}

/* ---- numbers ---- */

bool ep_value_is_character(uint64_t encoding)
{
	return encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char ||
	       encoding == DW_ATE_UTF;
}

uint64_t ep_value_low_bits(uint64_t number, uint64_t bits, bool is_signed)
{
	uint64_t sign;

	if (bits == 0 || bits >= 64)
		return number;
	number &= ((uint64_t)1 << bits) - 1;
	sign = (uint64_t)1 << (bits - 1);
	return is_signed && number & sign ? number - (sign << 1) : number;
}

bool ep_value_is_signed(uint64_t encoding)
{
	return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

void ep_value_put_integer(struct ep_value_printer *p, uint64_t number, uint64_t encoding,
			  uint64_t size)
{
	unsigned char low = (unsigned char)number;

	if (encoding == DW_ATE_boolean && number <= 1)
		ep_value_put(p, "%s", number ? "true" : "false");
	else if (ep_value_is_signed(encoding))
		ep_value_put(p, "%" PRId64, (int64_t)number);
	else
		ep_value_put(p, "%" PRIu64, number);
	if (!ep_value_is_character(encoding) || size != 1)
		return;
	ep_value_put(p, " '");
	if (low < 0x80)
		ep_value_put_character(p, low, '\'');
	else
		ep_value_put(p, "\\%03o", low);
	ep_value_put(p, "'");
}

/* The shortest that leads back to it. */
static void put_double(struct ep_value_printer *p, double number, int least, int most)
{
	char text[48];
	int digits = least;

	do
		snprintf(text, sizeof(text), "%.*g", digits, number);
	while (digits++ < most &&
	       (most == 9 ? (double)strtof(text, NULL) != number : strtod(text, NULL) != number));
	ep_value_put(p, "%s", text);
}

static void put_float(struct ep_value_printer *p, struct ep_value_part part, uint64_t size)
{
	long double widest = 0;
	double wide;
	float narrow;

	if (size == sizeof(narrow) && ep_value_take(p, part, &narrow, sizeof(narrow)))
		put_double(p, (double)narrow, 6, 9);
	else if (size == sizeof(wide) && ep_value_take(p, part, &wide, sizeof(wide)))
		put_double(p, wide, 15, 17);
	else if (size == sizeof(widest) && ep_value_take(p, part, &widest, 10))
		ep_value_put(p, "%.18Lg", widest);
	else if (size != sizeof(narrow) && size != sizeof(wide) && size != sizeof(widest))
		ep_value_put(p, "<a number of %" PRIu64 " bytes>", size);
}

static void put_wide(struct ep_value_printer *p, struct ep_value_part part, bool is_signed)
{
	char text[48];
	size_t at = sizeof(text) - 1;
	unsigned __int128 number;
	bool negative;

	if (!ep_value_take(p, part, &number, sizeof(number)))
		return;
	negative = is_signed && number >> 127;
	if (negative)
		number = -number;
	text[at] = '\0';
	do
		text[--at] = (char)('0' + (unsigned)(number % 10));
	while (number /= 10);
	ep_value_put(p, "%s%s", negative ? "-" : "", &text[at]);
}

void ep_value_base(struct ep_value_printer *p, Dwarf_Die *type, struct ep_value_part part)
{
	uint64_t encoding = 0, size = 0, number = 0;

	ep_type_number(type, DW_AT_encoding, &encoding);
	if (!ep_type_size(type, &size)) {
		ep_value_put(p, "<a type without a size>");
	} else if (encoding == DW_ATE_float) {
		put_float(p, part, size);
	} else if (encoding == DW_ATE_complex_float && size <= 32) {
		put_float(p, part, size / 2);
		ep_value_put(p, " + ");
		put_float(p, ep_value_moved(part, size / 2), size / 2);
		ep_value_put(p, "i");
	} else if (size == 16) {
		put_wide(p, part, ep_value_is_signed(encoding));
	} else if (size == 0 || size > sizeof(number)) {
		ep_value_put(p, "<a number of %" PRIu64 " bytes>", size);
	} else if (ep_value_take(p, part, &number, size)) {
		ep_value_put_integer(
			p, ep_value_low_bits(number, 8 * size, ep_value_is_signed(encoding)),
			encoding, size);
	}
}

/* ---- enumerations ---- */

#define PREFIX_MAX 120u

struct enumerators {
	uint64_t number, rest; /* what flags do not have */
	size_t flags;
	const char *exact;
};

static bool enumerator(Dwarf_Die *die, int64_t *out)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, DW_AT_const_value, &attribute) && ep_type_constant(&attribute, out);
}

/* Flags are single bits, or zero. */
static bool look_at_enumerators(struct ep_value_printer *p, Dwarf_Die *type, struct enumerators *e)
{
	struct ep_type_walk walk = {0};
	bool all_flags = true;
	int64_t one;

	while (!e->exact && ep_value_next_child(p, &walk, type)) {
		if (!enumerator(&walk.die, &one))
			continue;
		if ((uint64_t)one == e->number)
			e->exact = dwarf_diename(&walk.die);
		all_flags &= one >= 0 && (one & (one - 1)) == 0;
		e->flags += all_flags && (e->rest & (uint64_t)one) != 0;
		e->rest &= ~(uint64_t)one;
	}
	return all_flags;
}

/* What an enumerator's name begins with: those of an `enum class` lie in it, others beside it. */
static char *prefix_of(struct ep_value_printer *p, Dwarf_Die *type, char *out, size_t size)
{
	const char *name = dwarf_diename(type);
	size_t used;

	ep_type_scopes_prefix(p->style->scopes, type, out, size);
	used = strlen(out);
	if (name && ep_type_flag(type, DW_AT_enum_class))
		snprintf(out + used, size - used, "%s::", name);
	return out;
}

static void put_flags(struct ep_value_printer *p, Dwarf_Die *type, struct enumerators *e,
		      const char *prefix)
{
	struct ep_type_walk walk = {0};
	const char *between = "(";
	int64_t one;

	while (ep_value_next_child(p, &walk, type)) {
		if (!enumerator(&walk.die, &one) || !one ||
		    (e->number & (uint64_t)one) != (uint64_t)one)
			continue;
		ep_value_put(p, "%s%s%s", between, prefix,
			     dwarf_diename(&walk.die) ? dwarf_diename(&walk.die) : "?");
		between = " | ";
	}
	if (e->rest)
		ep_value_put(p, "%sunknown: 0x%" PRIx64, between, e->rest);
	ep_value_put(p, ")");
}

void ep_value_put_enumerator(struct ep_value_printer *p, Dwarf_Die *type, uint64_t number)
{
	struct enumerators e = {.number = number, .rest = number};
	bool flags = look_at_enumerators(p, type, &e);
	char prefix[PREFIX_MAX];

	prefix_of(p, type, prefix, sizeof(prefix));
	if (e.exact)
		ep_value_put(p, "%s%s", prefix, e.exact);
	else if (flags && e.flags)
		put_flags(p, type, &e, prefix);
	else
		ep_value_put(p, "%" PRId64, (int64_t)number);
}

/* Is one of its enumerators negative? What it is made of is seldom told. */
static bool enum_is_signed(struct ep_value_printer *p, Dwarf_Die *type)
{
	struct ep_type_walk walk = {0};
	int64_t one;

	while (ep_value_next_child(p, &walk, type))
		if (enumerator(&walk.die, &one) && one < 0)
			return true;
	return false;
}

void ep_value_enumeration(struct ep_value_printer *p, Dwarf_Die *type, struct ep_value_part part)
{
	uint64_t size = 0, number = 0;

	if (!ep_type_size(type, &size) || size == 0 || size > sizeof(number))
		ep_value_put(p, "<a type without a size>");
	else if (ep_value_take(p, part, &number, size))
		ep_value_put_enumerator(
			p, type, ep_value_low_bits(number, 8 * size, enum_is_signed(p, type)));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value.c: one function a kind of type. Parts of parts are printed by recursion, DEPTH_MAX deep and
 * no deeper: a stack of our own would hide the shape of it. All of it draws on one purse of steps
 * and one of bytes.
 */
#include "decoder/symbols/value.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"
#include "decoder/symbols/value_impl.h"

#define DEPTH_MAX    5u
#define SCALAR_MAX   64u   /* bytes of what is compared with the element before */
#define ELEMENTS_MAX 16u   /* of an array, runs of equal ones counting as one */
#define REPEATS_MIN  10u   /* as in gdb */
#define REPEATS_MAX  1024u /* looked at */
#define PREFIX_MAX   120u  /* bytes of the namespaces before a name */
#define MAPPED_TO    ((uint64_t)1 << 47)

static void value(struct ep_value_printer *p, Dwarf_Die type, struct ep_value_part part,
		  unsigned depth);

/* ---- pointers ---- */

static bool is_text(Dwarf_Die type)
{
	uint64_t encoding, size;

	return ep_type_peel(&type) && dwarf_tag(&type) == DW_TAG_base_type &&
	       ep_type_number(&type, DW_AT_encoding, &encoding) &&
	       ep_value_is_character(encoding) && ep_type_size(&type, &size) && size == 1;
}

static void put_text_at(struct ep_value_printer *p, struct ep_value_part part, size_t most)
{
	char text[EP_VALUE_STRING_MAX];
	size_t size;
	bool end;
	int code = ep_value_fetch_string(p, part, text, most, &size, &end);

	if (code != EP_OK)
		ep_value_put(p, "%s", ep_value_failure(code));
	else
		ep_value_put_string(p, text, size, !end && size < most);
}

/* What no address can be is none; else one byte of it says whether it is. */
static void put_target(struct ep_value_printer *p, uint64_t address)
{
	struct ep_value_part part = {true, address};
	const char *code = p->style->code ? p->style->code(p->frame->context, address) : NULL;
	uint8_t byte;
	int result;

	if (code) {
		ep_value_put(p, " <%s>", code);
		return;
	}
	result = address >= MAPPED_TO ? EP_E_UNMAPPED : ep_value_fetch(p, part, &byte, 1);
	if (result == EP_E_UNMAPPED)
		ep_value_put(p, " %s", ep_value_failure(result));
}

static void pointer(struct ep_value_printer *p, Dwarf_Die *type, struct ep_value_part part)
{
	uint64_t address;
	Dwarf_Die target;

	if (!ep_value_take(p, part, &address, sizeof(address)))
		return;
	ep_value_put(p, "0x%" PRIx64, address);
	if (!address)
		return;
	if (ep_type_of(type, &target) && is_text(target)) {
		ep_value_put(p, " ");
		put_text_at(p, (struct ep_value_part){true, address}, EP_VALUE_STRING_MAX + 1);
	} else if (ep_type_of(type, &target) && ep_value_wide_text(target)) {
		ep_value_put(p, " ");
		ep_value_put_wide_text(p, target, (struct ep_value_part){true, address},
				       EP_VALUE_STRING_MAX + 1);
	} else {
		put_target(p, address);
	}
}

static void reference(struct ep_value_printer *p, Dwarf_Die *type, struct ep_value_part part,
		      unsigned depth)
{
	uint64_t address;
	Dwarf_Die target;

	if (!ep_value_take(p, part, &address, sizeof(address)))
		return;
	ep_value_put(p, "@0x%" PRIx64 ": ", address);
	if (ep_type_of(type, &target))
		value(p, target, (struct ep_value_part){true, address}, depth);
}

static bool is_member_function(Dwarf_Die *type)
{
	Dwarf_Die target;

	return ep_type_of(type, &target) && dwarf_tag(&target) == DW_TAG_subroutine_type;
}

/* The Itanium C++ ABI, section 2.3: of data an offset, -1 is none; of functions an address or twice
 * the slot in the virtual table plus one, and what `this` has to be moved by. */
static void member_pointer(struct ep_value_printer *p, Dwarf_Die *type, struct ep_value_part part)
{
	uint64_t size, words[2] = {0};
	const char *code;

	if (!ep_type_size(type, &size))
		size = is_member_function(type) ? 16 : 8;
	if ((size != 8 && size != 16) || !ep_value_take(p, part, words, size))
		return;
	if (size == 8 ? words[0] == UINT64_MAX : words[0] == 0) {
		ep_value_put(p, "NULL");
		return;
	}
	if (size == 8) {
		ep_value_put(p, "<byte %" PRIu64 " of it>", words[0]);
		return;
	}
	if (words[0] & 1) {
		ep_value_put(p, "&virtual table offset %" PRIu64, words[0] - 1);
	} else {
		code = p->style->code ? p->style->code(p->frame->context, words[0]) : NULL;
		ep_value_put(p, "0x%" PRIx64 "%s%s%s", words[0], code ? " <" : "", code ? code : "",
			     code ? ">" : "");
	}
	if (words[1])
		ep_value_put(p, ", this adjustment %" PRId64, (int64_t)words[1]);
}

/* ---- arrays ---- */

/* How many of the elements from `part` on, of at most `most`, equal the first, or were optimized
 * out as it was. */
static uint64_t equal_ones(struct ep_value_printer *p, struct ep_value_part part, uint64_t size,
			   uint64_t most)
{
	uint8_t first[SCALAR_MAX], other[SCALAR_MAX];
	uint64_t count = 1;
	int code;

	if (size == 0 || size > SCALAR_MAX)
		return 1;
	code = ep_value_fetch(p, part, first, size);
	while (count < most && count < REPEATS_MAX && p->steps++ < EP_VALUE_STEPS &&
	       ep_value_fetch(p, ep_value_moved(part, count * size), other, size) == code &&
	       (code != EP_OK || memcmp(first, other, size) == 0))
		count++;
	return count;
}

/* Memory that is not there is said once, of all that is behind it. */
static bool is_gone(struct ep_value_printer *p, struct ep_value_part part)
{
	uint8_t byte;
	int code = ep_value_fetch(p, part, &byte, 1);

	if (code >= 0)
		return false;
	ep_value_put(p, "%s", ep_value_failure(code));
	return true;
}

static void elements(struct ep_value_printer *p, Dwarf_Die type, struct ep_value_part part,
		     uint64_t count, uint64_t size, unsigned depth)
{
	uint64_t i = 0, run;
	bool gone = false;

	ep_value_put(p, "{");
	for (unsigned shown = 0; i < count && shown < ELEMENTS_MAX && ep_value_step(p); shown++) {
		struct ep_value_part one = ep_value_moved(part, i * size);

		ep_value_put(p, "%s", i ? ", " : "");
		gone = size > 0 && is_gone(p, one);
		if (gone)
			break;
		run = equal_ones(p, one, size, count - i);
		run = run >= REPEATS_MIN ? run : 1;
		value(p, type, one, depth);
		if (run > 1)
			ep_value_put(p, " <repeats %s%" PRIu64 " times>",
				     run == REPEATS_MAX && i + run < count ? "at least " : "", run);
		i += run;
	}
	if (i < count && !gone)
		ep_value_put(p, "%s... %" PRIu64 " more", i ? ", " : "", count - i);
	ep_value_put(p, "}");
}

/* The rows of a table of several dimensions, each as an array. */
static void dimension(struct ep_value_printer *p, Dwarf_Die type, struct ep_value_part part,
		      const uint64_t *counts, size_t left, uint64_t size, unsigned depth)
{
	uint64_t row = size, i = 0;

	if (left == 1) {
		elements(p, type, part, counts[0], size, depth);
		return;
	}
	for (size_t k = 1; k < left; k++)
		if (__builtin_mul_overflow(row, counts[k], &row))
			row = 0;
	ep_value_put(p, "{");
	for (; i < counts[0] && i < ELEMENTS_MAX && ep_value_step(p); i++) {
		ep_value_put(p, "%s", i ? ", " : "");
		dimension(p, type, ep_value_moved(part, i * row), counts + 1, left - 1, size,
			  depth);
	}
	if (i < counts[0])
		ep_value_put(p, "%s... %" PRIu64 " more", i ? ", " : "", counts[0] - i);
	ep_value_put(p, "}");
}

static bool bound_in_frame(void *context, Dwarf_Attribute *bound, uint64_t *out)
{
	struct ep_value_printer *p = context;

	return ep_location_number(p->frame, bound, out);
}

/* In each dimension, as far as they can be told; open ones count as empty, as in gdb. */
static size_t dimensions_of(struct ep_value_printer *p, Dwarf_Die *type,
			    uint64_t counts[EP_TYPE_DIMENSIONS], bool *known)
{
	size_t dimensions = ep_type_dimensions(type, bound_in_frame, p, counts);

	*known = true;
	for (size_t i = 0; i < dimensions; i++) {
		*known &= counts[i] != EP_TYPE_VARIABLE;
		if (counts[i] == EP_TYPE_OPEN)
			counts[i] = 0;
	}
	return dimensions;
}

static void array(struct ep_value_printer *p, Dwarf_Die *type, struct ep_value_part part,
		  unsigned depth)
{
	uint64_t counts[EP_TYPE_DIMENSIONS], size;
	bool known;
	size_t dimensions = dimensions_of(p, type, counts, &known);
	Dwarf_Die element;

	if (!ep_type_of(type, &element) || !ep_type_size(&element, &size))
		ep_value_put(p, "<elements without a size>");
	else if (!known)
		ep_value_put(p, "<array of unknown length>");
	else if (dimensions == 1 && counts[0] && ep_value_wide_text(element))
		ep_value_put_wide_text(p, element, part, counts[0]);
	else if (dimensions == 1 && is_text(element) && counts[0])
		put_text_at(p, part, counts[0]);
	else
		dimension(p, element, part, counts, dimensions, size, depth);
}

/* ---- structs ---- */

static bool member_offset(Dwarf_Die *member, uint64_t *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	*out = 0;
	if (!dwarf_attr(member, DW_AT_data_member_location, &attribute))
		return true;
	if (dwarf_formudata(&attribute, out) == 0)
		return true;
	if (dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1 ||
	    ops[0].atom != DW_OP_plus_uconst)
		return false;
	*out = ops[0].number;
	return true;
}

/* Of bytes that are there in part these bits only have to be there; *out: from the byte on that the
 * first of them is in. */
static bool take_bits(struct ep_value_printer *p, struct ep_value_part part, uint64_t from,
		      uint64_t bits, unsigned __int128 *out)
{
	const struct ep_location *location = p->location;
	uint64_t size = (from % 8 + bits + 7) / 8, last;

	part = ep_value_moved(part, from / 8);
	if (part.elsewhere || location->kind == EP_LOCATION_MEMORY)
		return ep_value_take(p, part, out, size);
	last = 8 * part.at + from % 8 + bits;
	for (uint64_t i = last - bits; i < last; i++)
		if (part.at > location->size || i / 8 >= location->size ||
		    location->missing[i / 8] >> i % 8 & 1) {
			ep_value_put(p, EP_VALUE_OPTIMIZED_OUT);
			return false;
		}
	memcpy(out, location->bytes + part.at, size);
	p->known = true;
	return true;
}

/* Bits of an integer, `from` counted from the struct's first byte. */
static void put_bits(struct ep_value_printer *p, Dwarf_Die type, struct ep_value_part part,
		     uint64_t from, uint64_t bits)
{
	uint64_t encoding = 0, number;
	unsigned __int128 wide = 0;

	if (bits == 0 || bits > 64 || from > MAPPED_TO || !ep_type_peel(&type)) {
		ep_value_put(p, "<bits that make no sense>");
		return;
	}
	if (!take_bits(p, part, from, bits, &wide))
		return;
	ep_type_number(&type, DW_AT_encoding, &encoding);
	number =
		ep_value_low_bits((uint64_t)(wide >> from % 8), bits, ep_value_is_signed(encoding));
	if (dwarf_tag(&type) == DW_TAG_enumeration_type)
		ep_value_put_enumerator(p, &type, number);
	else
		ep_value_put_integer(p, number, encoding, 0);
}

/* DWARF 4 counts from the struct's first byte, 2 and 3 from the highest bit of the member's own
 * storage. */
static bool bit_offset(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, uint64_t bits,
		       uint64_t *out)
{
	uint64_t number, size;

	if (ep_type_number(member, DW_AT_data_bit_offset, out))
		return true;
	if (!ep_type_number(member, DW_AT_bit_offset, &number))
		return false;
	if (!ep_type_number(member, DW_AT_byte_size, &size) && !ep_type_size(type, &size))
		return false;
	if (size > 16 || number + bits > 8 * size || offset > MAPPED_TO)
		return false;
	*out = 8 * offset + 8 * size - number - bits;
	return true;
}

static void member_value(struct ep_value_printer *p, Dwarf_Die *member, struct ep_value_part part,
			 unsigned depth)
{
	uint64_t offset, bits, from;
	Dwarf_Die type;

	if (!ep_type_of(member, &type) || !member_offset(member, &offset))
		ep_value_put(p, "<unknown location>");
	else if (!ep_type_number(member, DW_AT_bit_size, &bits))
		value(p, type, ep_value_moved(part, offset), depth);
	else if (bit_offset(member, &type, offset, bits, &from))
		put_bits(p, type, part, from, bits);
	else
		ep_value_put(p, "<bits that make no sense>");
}

/* Does an entry take part in a value? Static members do not, nor do types and functions. */
static bool is_part(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_member && !ep_type_flag(die, DW_AT_external) &&
		!ep_type_flag(die, DW_AT_declaration)) ||
	       tag == DW_TAG_inheritance;
}

/* An empty one has nothing to show. */
static bool has_parts(struct ep_value_printer *p, Dwarf_Die *type)
{
	struct ep_type_walk walk = {0};

	while (ep_value_next_child(p, &walk, type))
		if (is_part(&walk.die))
			return true;
	return false;
}

static bool is_empty_base(struct ep_value_printer *p, Dwarf_Die *die)
{
	Dwarf_Die type;

	return dwarf_tag(die) == DW_TAG_inheritance && ep_type_of(die, &type) &&
	       ep_type_peel(&type) && !has_parts(p, &type);
}

static void base_class(struct ep_value_printer *p, Dwarf_Die *die, struct ep_value_part part,
		       unsigned depth)
{
	uint64_t is_virtual = 0;
	Dwarf_Die type;
	bool has_type = ep_type_of(die, &type);
	const char *name = has_type ? dwarf_diename(&type) : NULL;
	char prefix[PREFIX_MAX] = "";

	if (has_type)
		ep_type_scopes_prefix(p->style->scopes, &type, prefix, sizeof(prefix));
	ep_value_put(p, "<%s%s> = ", prefix, name ? name : "?");
	if (ep_type_number(die, DW_AT_virtuality, &is_virtual) && is_virtual)
		ep_value_put(p, "<virtual>");
	else
		member_value(p, die, part, depth);
}

static void members(struct ep_value_printer *p, Dwarf_Die *type, struct ep_value_part part,
		    unsigned depth)
{
	struct ep_type_walk walk = {0};
	const char *between = "";

	ep_value_put(p, "{");
	while (ep_value_next_child(p, &walk, type)) {
		const char *name;

		if (!is_part(&walk.die) || is_empty_base(p, &walk.die))
			continue;
		ep_value_put(p, "%s", between);
		between = ", ";
		if (dwarf_tag(&walk.die) == DW_TAG_inheritance) {
			base_class(p, &walk.die, part, depth);
			continue;
		}
		name = dwarf_diename(&walk.die);
		if (name)
			ep_value_put(p, "%s = ", name);
		member_value(p, &walk.die, part, depth);
	}
	ep_value_put(p, "}");
}

/* ---- C++'s own ---- */

/* Of a type's child: by tag and name, "" any; with the type that it has. */
static bool find_child(struct ep_value_printer *p, Dwarf_Die *type, int tag, const char *name,
		       Dwarf_Die *out)
{
	struct ep_type_walk walk = {0};

	while (ep_value_next_child(p, &walk, type)) {
		const char *has = dwarf_diename(&walk.die);

		if (dwarf_tag(&walk.die) != tag || (*name && (!has || strcmp(has, name) != 0)))
			continue;
		*out = walk.die;
		return true;
	}
	return false;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool read_word(struct ep_value_printer *p, Dwarf_Die *type, const char *name,
		      struct ep_value_part part, uint64_t *out)
{
	Dwarf_Die member;
	uint64_t offset;

	return find_child(p, type, DW_TAG_member, name, &member) &&
	       member_offset(&member, &offset) &&
	       ep_value_fetch(p, ep_value_moved(part, offset), out, sizeof(*out)) == EP_OK;
}

/* libstdc++'s std::string and std::string_view: a pointer and a length. False: it is none, or it
 * cannot be one. */
static bool text_object(struct ep_value_printer *p, Dwarf_Die *type, const char *name,
			struct ep_value_part part)
{
	uint64_t address, size;
	char text[EP_VALUE_STRING_MAX];
	size_t shown;

	if (begins(name, "basic_string<char,")) {
		/* _M_dataplus begins with its pointer: its allocator is empty. */
		if (!read_word(p, type, "_M_dataplus", part, &address) ||
		    !read_word(p, type, "_M_string_length", part, &size))
			return false;
	} else if (!begins(name, "basic_string_view<char,") ||
		   !read_word(p, type, "_M_str", part, &address) ||
		   !read_word(p, type, "_M_len", part, &size)) {
		return false;
	}
	shown = size < sizeof(text) ? size : sizeof(text);
	if (size > MAPPED_TO ||
	    (shown && ep_value_fetch(p, (struct ep_value_part){true, address}, text, shown)))
		return false;
	p->known = true;
	ep_value_put_string(p, text, shown, shown < size);
	return true;
}

/* libstdc++'s vector: three pointers, begin, end, end of what is reserved. */
static bool vector_object(struct ep_value_printer *p, Dwarf_Die *type, const char *name,
			  struct ep_value_part part, unsigned depth)
{
	uint64_t words[3], size, element, bytes;
	Dwarf_Die parameter, of, parent, base_type;
	const char *base_name;

	if (!begins(name, "vector<") || begins(name, "vector<bool") ||
	    !find_child(p, type, DW_TAG_template_type_parameter, "", &parameter) ||
	    !ep_type_of(&parameter, &of) || !ep_type_size(&of, &element) || element == 0 ||
	    !find_child(p, type, DW_TAG_inheritance, "", &parent) ||
	    !ep_type_of(&parent, &base_type))
		return false;
	base_name = dwarf_diename(&base_type);
	if (!base_name || !begins(base_name, "_Vector_base<") || !ep_type_size(type, &size) ||
	    size != sizeof(words))
		return false;
	if (!ep_value_take(p, part, words, sizeof(words)))
		return true;
	bytes = words[1] - words[0];
	if (words[1] < words[0] || words[2] < words[1] || bytes % element)
		return false;
	p->known = true;
	ep_value_put(p, "std::vector of length %" PRIu64 ", capacity %" PRIu64, bytes / element,
		     (words[2] - words[0]) / element);
	if (bytes) {
		ep_value_put(p, " = ");
		elements(p, of, (struct ep_value_part){true, words[0]}, bytes / element, element,
			 depth);
	}
	return true;
}

/* libstdc++'s unique_ptr and shared_ptr begin with the pointer, and have a deleter without members,
 * or the counters, behind it. */
static bool pointer_object(struct ep_value_printer *p, Dwarf_Die *type, const char *name,
			   struct ep_value_part part)
{
	uint64_t size, address, wanted = begins(name, "unique_ptr<") ? 8 : 16;

	if ((wanted != 8 && !begins(name, "shared_ptr<")) || !ep_type_size(type, &size) ||
	    size != wanted)
		return false;
	if (!ep_value_take(p, part, &address, sizeof(address)))
		return true;
	ep_value_put(p, "std::%s = 0x%" PRIx64, wanted == 8 ? "unique_ptr" : "shared_ptr", address);
	if (address)
		put_target(p, address);
	return true;
}

/* libstdc++'s optional: what it holds, and behind that whether it does. False: it cannot be one. */
static bool optional_object(struct ep_value_printer *p, Dwarf_Die *type, const char *name,
			    struct ep_value_part part, unsigned depth)
{
	Dwarf_Die parameter, of;
	uint64_t inner, size;
	uint8_t engaged;
	int code;

	if (!begins(name, "optional<") ||
	    !find_child(p, type, DW_TAG_template_type_parameter, "_Tp", &parameter) ||
	    !ep_type_of(&parameter, &of) || !ep_type_size(&of, &inner) ||
	    !ep_type_size(type, &size) || inner >= size)
		return false;
	code = ep_value_fetch(p, ep_value_moved(part, inner), &engaged, 1);
	if (code != EP_OK || engaged > 1)
		return false;
	p->known = true;
	if (!engaged) {
		ep_value_put(p, "std::optional = nothing");
		return true;
	}
	ep_value_put(p, "std::optional = ");
	value(p, of, part, depth);
	return true;
}

static void structure(struct ep_value_printer *p, Dwarf_Die *type, struct ep_value_part part,
		      unsigned depth)
{
	const char *name = dwarf_diename(type);

	if (ep_type_flag(type, DW_AT_declaration))
		ep_value_put(p, "<incomplete type>");
	else if (name && (text_object(p, type, name, part) || pointer_object(p, type, name, part) ||
			  vector_object(p, type, name, part, depth) ||
			  optional_object(p, type, name, part, depth)))
		return;
	else if (depth >= DEPTH_MAX)
		ep_value_put(p, "{...}");
	else
		members(p, type, part, depth);
}

/* ---- any ---- */

/* What a number of wchar_t and its like stands for. */
static void put_letter(struct ep_value_printer *p, Dwarf_Die named, struct ep_value_part part)
{
	char letter = ep_value_wide_text(named);
	uint32_t character = 0;

	if (letter && ep_value_fetch(p, part, &character, letter == 'u' ? 2 : 4) == EP_OK)
		ep_value_put_wide_character(p, named, character);
}

static void value(struct ep_value_printer *p, Dwarf_Die type, struct ep_value_part part,
		  unsigned depth)
{
	Dwarf_Die named = type;

	if (!ep_value_step(p))
		return;
	if (!ep_type_peel(&type) || depth > DEPTH_MAX) {
		ep_value_put(p, "...");
		return;
	}
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		ep_value_base(p, &type, part);
		put_letter(p, named, part);
		break;
	case DW_TAG_enumeration_type:
		ep_value_enumeration(p, &type, part);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_unspecified_type:
		pointer(p, &type, part);
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		reference(p, &type, part, depth + 1);
		break;
	case DW_TAG_ptr_to_member_type:
		member_pointer(p, &type, part);
		break;
	case DW_TAG_array_type:
		array(p, &type, part, depth + 1);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		structure(p, &type, part, depth + 1);
		break;
	default:
		ep_value_put(p, "<type of an unknown kind>");
	}
}

/* A cut text ends between two words, where there are some: half a number is another number. A text
 * without any is one of characters: it ends before one, or what stands for one. */
static size_t cut(const char *text, size_t used)
{
	size_t size = used;

	/* The purse was empty first: what is there is whole. */
	if (used < EP_VALUE_MAX)
		return used;
	while (size && text[size - 1] != ' ')
		size--;
	if (size)
		return size;
	while (used > 1 && text[used - 1] != '\\' && (unsigned char)text[used - 1] < 0xc0)
		used--;
	return used > 1 ? used - 1 : EP_VALUE_MAX / 2;
}

static char *finished(struct ep_value_printer *p)
{
	char *text, *whole;

	p->text[p->used] = '\0';
	if (!p->full)
		return ep_utf8_escape(p->text, p->used);
	text = ep_utf8_escape(p->text, cut(p->text, p->used));
	whole = ep_asprintf("%s...", text);
	free(text);
	return whole;
}

#define POINTERS_MAX 4u

/* What has no address is shown in its place, as a reference is. */
static void put_implicit(struct ep_value_printer *p, Dwarf_Die *type)
{
	struct ep_location location = *p->location;
	Dwarf_Die target = *type;

	for (unsigned i = 0; location.kind == EP_LOCATION_POINTER; i++) {
		Dwarf_Die variable = location.target;
		uint64_t offset = location.offset;

		ep_value_put(p, "%s<synthetic pointer>", i ? ": " : "");
		if (i == POINTERS_MAX || !ep_type_peel(&target) || !ep_type_of(&target, &target))
			return;
		ep_location_find(&location, p->frame, &variable);
		p->location = &location;
		if (location.kind != EP_LOCATION_MEMORY && location.kind != EP_LOCATION_BYTES)
			continue;
		ep_value_put(p, ": ");
		value(p, target, (struct ep_value_part){false, offset}, 0);
	}
}

char *ep_value_text(const struct ep_value_style *style, const struct ep_location_frame *frame,
		    Dwarf_Die *type, const struct ep_location *location, bool *known)
{
	struct ep_value_printer p = {.style = style, .frame = frame, .location = location};
	char *text;

	if (location->kind == EP_LOCATION_UNKNOWN)
		ep_value_put(&p, "<%s>", location->why);
	else if (location->kind == EP_LOCATION_NONE)
		ep_value_put(&p, EP_VALUE_OPTIMIZED_OUT);
	else if (location->kind == EP_LOCATION_POINTER)
		put_implicit(&p, type);
	else
		value(&p, *type, (struct ep_value_part){false, 0}, 0);
	*known = p.known;
	text = finished(&p);
	return text;
}

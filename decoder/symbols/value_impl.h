/* SPDX-License-Identifier: BSD-2-Clause */
/* value_impl.h: what the files that print a value have in common: the text, the purse of steps, and
 * the bytes that the value is made of. */
#ifndef EPITAPH_VALUE_IMPL_H
#define EPITAPH_VALUE_IMPL_H

#include "coredump/util/error.h"
#include "decoder/symbols/type.h"
#include "decoder/symbols/value.h"

#define EP_VALUE_STRING_MAX    100u /* bytes of a text that a pointer leads to, or an array holds */
#define EP_VALUE_OPTIMIZED_OUT "<optimized out>"

struct ep_value_printer {
	const struct ep_value_style *style;
	const struct ep_location_frame *frame;
	const struct ep_location *location;
	char text[EP_VALUE_MAX + 1];
	size_t used;
	unsigned steps;
	bool full, known;
};

/* Where a part is: so many bytes into the location, or in memory elsewhere. */
struct ep_value_part {
	bool elsewhere;
	uint64_t at; /* offset; address */
};

static inline struct ep_value_part ep_value_moved(struct ep_value_part part, uint64_t by)
{
	part.at += by;
	return part;
}

/* Adds to the text, as far as it goes. */
void ep_value_put(struct ep_value_printer *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Pays for one part more; false: the text is full, or the purse is empty. */
bool ep_value_step(struct ep_value_printer *p);
/* As ep_type_child, and pays for it. */
bool ep_value_next_child(struct ep_value_printer *p, struct ep_type_walk *walk, Dwarf_Die *parent);
/* EP_END: they were optimized out; EP_E_: memory does not have them. */
int ep_value_fetch(struct ep_value_printer *p, struct ep_value_part part, void *out, size_t size);
/* What is printed in its place: "<not mapped>". Static. */
const char *ep_value_failure(int code);
/* As ep_value_fetch; false: the text says why. */
bool ep_value_take(struct ep_value_printer *p, struct ep_value_part part, void *out, size_t size);
/* A byte as it stands between such quotes. */
void ep_value_put_character(struct ep_value_printer *p, unsigned char c, char quote);
/* In quotes; UTF-8 as it is, all other bytes above ASCII by their numbers. `more`: it goes on. */
void ep_value_put_string(struct ep_value_printer *p, const char *text, size_t size, bool more);
/* As far as there is any: *end, a NUL is behind it. */
int ep_value_fetch_string(struct ep_value_printer *p, struct ep_value_part part,
			  char out[EP_VALUE_STRING_MAX], size_t most, size_t *size, bool *end);
/* The letter before a text of such characters, wider than a byte: 'L', 'u', 'U'; 0: it is none. */
char ep_value_wide_text(Dwarf_Die type);
/* At most `most` characters of them, up to the first NUL. */
void ep_value_put_wide_text(struct ep_value_printer *p, Dwarf_Die type, struct ep_value_part part,
			    uint64_t most);
/* One of them, in single quotes. */
void ep_value_put_wide_character(struct ep_value_printer *p, Dwarf_Die type, uint64_t number);
/* The lowest `bits` of it, extended by their sign. */
uint64_t ep_value_low_bits(uint64_t number, uint64_t bits, bool is_signed);
/* Of DW_ATE_. */
bool ep_value_is_character(uint64_t encoding);
bool ep_value_is_signed(uint64_t encoding);
/* `size`: 1 shows what may be a character as one, too. */
void ep_value_put_integer(struct ep_value_printer *p, uint64_t number, uint64_t encoding,
			  uint64_t size);
/* A number by its DW_TAG_base_type. */
void ep_value_base(struct ep_value_printer *p, Dwarf_Die *type, struct ep_value_part part);
/* By name; of flags by several. */
void ep_value_put_enumerator(struct ep_value_printer *p, Dwarf_Die *type, uint64_t number);
void ep_value_enumeration(struct ep_value_printer *p, Dwarf_Die *type, struct ep_value_part part);

#endif

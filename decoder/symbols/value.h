/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value.h: a value by its type, as gdb prints it: numbers, characters, enumerators, pointers with
 * what they lead to, structs and arrays in short, C++'s strings and vectors as what they hold. At
 * most EP_VALUE_MAX bytes of text and EP_VALUE_STEPS parts looked at, whatever types and memory
 * claim.
 */
#ifndef EPITAPH_VALUE_H
#define EPITAPH_VALUE_H

#include "decoder/symbols/location.h"
#include "decoder/symbols/type_scopes.h"

#define EP_VALUE_MAX   240u
#define EP_VALUE_STEPS 16384u

struct ep_value_style {
	/* Of an address in code: "f+0x12", static or until the next call; NULL: it is none. May be
	 * NULL. */
	const char *(*code)(void *context, uint64_t address);
	struct ep_type_scopes *scopes; /* for names of types and enumerators */
};

/* Valid UTF-8 without control characters. The caller frees it. What is not known is in angle
 * brackets: <optimized out>, <not mapped>, …; *known: at least a part of it is. */
char *ep_value_text(const struct ep_value_style *style, const struct ep_location_frame *frame,
		    Dwarf_Die *type, const struct ep_location *location, bool *known);

#endif

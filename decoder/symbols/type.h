/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * type.h: what DWARF says of a type, for who prints a value: its size, its parts, its name. Types
 * may refer to themselves in a ring, and sizes may be anything: every walk is bounded.
 */
#ifndef EPITAPH_TYPE_H
#define EPITAPH_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder/symbols/type_scopes.h"

/* The type of a variable, member, pointer, array …; false: none (void). */
bool ep_type_of(Dwarf_Die *die, Dwarf_Die *out);
/* Without typedefs and qualifiers, in place; false: they make a ring. */
bool ep_type_peel(Dwarf_Die *type);

/* Bytes of a value of it; false: unknown, or more than 2^47. */
bool ep_type_size(Dwarf_Die *type, uint64_t *out);

#define EP_TYPE_DIMENSIONS 8u

/* Of a dimension without a bound; of one whose bound is calculated. */
#define EP_TYPE_OPEN     UINT64_MAX
#define EP_TYPE_VARIABLE (UINT64_MAX - 1)

/* The number that a bound's attribute comes to in a frame. */
typedef bool (*ep_type_bound_fn)(void *context, Dwarf_Attribute *bound, uint64_t *out);

/* An array's number of elements in each dimension, the slowest first, or one of the above. Bounds
 * that are no constants are asked of `bound`, which may be NULL. How many dimensions. */
size_t ep_type_dimensions(Dwarf_Die *array, ep_type_bound_fn bound, void *context,
			  uint64_t out[EP_TYPE_DIMENSIONS]);

/* A number that is a constant of the entry, its own or of what it stands for. */
bool ep_type_number(Dwarf_Die *die, unsigned attribute, uint64_t *out);
/* DW_AT_const_value as the bits of a number: what has a size and no sign is not extended. */
bool ep_type_constant(Dwarf_Attribute *attribute, int64_t *out);
bool ep_type_flag(Dwarf_Die *die, unsigned attribute);

/* The first entry below `parent`, then the next one beside it, in the first EP_TYPE_WALK_MAX bytes
 * of them. Zeroed at first. */
#define EP_TYPE_WALK_MAX ((uint64_t)1 << 26)
struct ep_type_walk {
	Dwarf_Die die;
	uint64_t bytes; /* of debug information that were walked over */
	bool begun;
};
bool ep_type_child(struct ep_type_walk *walk, Dwarf_Die *parent);

/* Is the entry's unit written in C? There a type's kind is a part of its name. */
bool ep_type_is_c(Dwarf_Die *die);

/* "const char *", "struct point [4]", "void (*)(...)", "ns::Class &": as in C or C++, at most
 * `size`
 * - 1 bytes of it; any bytes. Returns `out`. */
char *ep_type_name(Dwarf_Die *die, struct ep_type_scopes *scopes, char *out, size_t size);

#endif

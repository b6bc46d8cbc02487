/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * variables.h: arguments and locals of one frame, with values, from the entries of DWARF 2-5: those
 * of the innermost function that has the address, inlined ones included, in the blocks around it,
 * as gdb's `info args` and `info locals` have them. Bounded, whatever the file says.
 */
#ifndef EPITAPH_VARIABLES_H
#define EPITAPH_VARIABLES_H

#include "coredump/util/array.h"
#include "decoder/symbols/inlines.h"
#include "decoder/symbols/value.h"

#define EP_VARIABLES_MAX 64u

/* All texts are valid UTF-8 without control characters, and owned. */
struct ep_variable {
	char *name;
	char *type;  /* "const char *" */
	char *value; /* as gdb has it; what is not known is in angle brackets */
	bool argument;
	bool artificial; /* the compiler's own: of a range loop, or `this` */
	bool known;      /* at least a part of the value */
	bool by_caller;  /* the function keeps it no more: it is what its caller gave it */
	uint32_t line;   /* of its declaration; 0 unknown */
};

struct ep_variables {
	EP_ARRAY(struct ep_variable)
	all;         /* arguments, then locals, those of the innermost block
			first */
	size_t left; /* left out: there are more than EP_VARIABLES_MAX */
	bool found;  /* there is debug information of the function */
};

/* `frame` has all but the members `base` and, where it is NULL, `entry`. `skip`: so many inlined
 * calls, counted from the innermost, are left alone. Of `style` all but `scopes`. */
void ep_variables_init(struct ep_variables *out, struct ep_inlines *inlines, unsigned skip,
		       struct ep_location_frame *frame, const struct ep_value_style *style);
void ep_variables_deinit(struct ep_variables *variables); /* zeroed is allowed */

#endif

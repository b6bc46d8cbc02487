/* SPDX-License-Identifier: BSD-2-Clause */
/* place_values.h: the arguments and locals of one frame of a stack, of a core or snapshot. */
#ifndef EPITAPH_REPORT_PLACE_VALUES_H
#define EPITAPH_REPORT_PLACE_VALUES_H

#include "decoder/report/evidence.h"
#include "decoder/symbols/variables.h"

struct ep_report_place_of {
	uint32_t tid;
	const struct ep_stack *stack; /* the thread's */
	size_t frame;                 /* its number in it */
	const char *symbol;           /* of the frame's function */
	const struct ep_names_debug *debug;
	unsigned skip; /* so many inlined calls, from the innermost on, are left alone */
};

/* What the source was redacted of has no value. Returns why there are none, static; "": there are
 * some, or the function has none. */
const char *ep_report_place_values(struct ep_variables *out, const struct ep_evidence *evidence,
				   const struct ep_report_place_of *of);

#endif

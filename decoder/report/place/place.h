/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place.h: where the thread died in the program's own code: the innermost frame of it that does not
 * belong to a library, its line of source with its neighbours, and its arguments and locals.
 */
#ifndef EPITAPH_REPORT_PLACE_H
#define EPITAPH_REPORT_PLACE_H

#include "decoder/names/source_text.h"
#include "decoder/report/evidence.h"
#include "decoder/symbols/variables.h"

struct ep_report_place {
	bool known;                         /* there is such a frame; else all is empty */
	size_t frame;                       /* its number in the stack */
	uint64_t pc;                        /* process virtual */
	const struct ep_function *function; /* whose code it is */
	const char *inlined; /* the function that was inlined there; NULL: its own; borrowed */
	struct ep_line line;
	struct ep_source_text source;
	struct ep_variables variables;
	char why[400]; /* why there are none of them; "" */
};

/* Of the thread's stack, and the alignment that says how far it is believed. Borrows from
 * `evidence`. */
void ep_report_place_init(struct ep_report_place *place, const struct ep_evidence *evidence,
			  uint32_t tid, const struct ep_stack *stack,
			  const struct ep_alignment *alignment);
void ep_report_place_deinit(struct ep_report_place *place); /* zeroed is allowed */

/* Is it declared further down in the same function than the line that was being executed? Then it
 * has no value yet, likely. */
bool ep_report_place_is_below(const struct ep_report_place *place,
			      const struct ep_variable *variable);

#endif

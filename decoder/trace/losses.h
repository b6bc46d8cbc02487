/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * losses.h: what of a trace is damaged or missing: the one table that info, report, every other
 * command's messages and all exit statuses read.
 */
#ifndef EPITAPH_LOSSES_H
#define EPITAPH_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder/trace/trace.h"

#define EP_LOSSES_MAX 32

struct ep_loss {
	const char *name; /* info --json's member */
	const char *code; /* the report's warning code; NULL: it has none */
	const char *text; /* in words, after the count: "blocks are damaged" */
	uint64_t count;   /* 0: none of it */
	bool partial;     /* some of the history is lost by it: exit status 1 */
};

/* All kinds, also those that did not happen, in the order to be told; how many. */
size_t ep_losses(const struct ep_trace *trace, struct ep_loss out[EP_LOSSES_MAX]);

/* Is any of the history lost? What was overwritten by newer history is not. */
bool ep_losses_partial(const struct ep_trace *trace);

#endif

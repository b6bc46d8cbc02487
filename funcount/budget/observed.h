/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * observed.h: what was seen of tracing itself when a test ran traced: how far back the rings went,
 * and what they lack. By a clock, so it is no verdict's business.
 */
#ifndef EPITAPH_OBSERVED_H
#define EPITAPH_OBSERVED_H

#include <stdint.h>

#include "coredump/util/error.h"

struct ep_observed {
	uint64_t runs;      /* of the command; 0: it was never traced */
	uint64_t processes; /* that left a trace */
	uint64_t lost;      /* events known to be missing */
	double history;     /* seconds that the shortest ring went back which was written over;
			       INFINITY: none was */
};

/* Adds a process's trace. EP_END: there is none; and what a reader of traces says. */
int ep_observed_add_file(struct ep_observed *observed, const char *path, struct ep_err *err);
/* Adds other runs. */
void ep_observed_add(struct ep_observed *observed, const struct ep_observed *more);

#endif

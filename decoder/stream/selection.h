/* SPDX-License-Identifier: BSD-2-Clause */
/* selection.h: which calls the user asked for (stream.h chooses). */
#ifndef EPITAPH_SELECTION_H
#define EPITAPH_SELECTION_H

#include "decoder/calls/calls.h"
#include "decoder/util/patterns.h"

/* A point in time as the user gives it: from the end (-10ms; end.h), from the start (+1.5s). */
struct ep_when {
	bool given;
	bool from_end;
	int64_t ns;
};

struct ep_selection {
	const struct ep_trace_thread *only; /* NULL: `threads` says which */
	struct ep_patterns threads;         /* each a tid, a serial as #N, or of names */
	struct ep_patterns functions;
	uint32_t depth;       /* show depths below it; 0: all */
	int64_t min_duration; /* ns; 0: all. Calls that are open always pass */
	uint64_t last_calls;  /* 0: all */
	int64_t last_ns;      /* 0: all */
	struct ep_when since, until;
};

/* Of calls that are open at one time some may be left out. NULL: none. */
static inline bool ep_selection_leaves_out(const struct ep_selection *selection)
{
	return selection && (selection->functions.count || selection->depth ||
			     selection->min_duration || selection->last_calls);
}

/* "-10ms", "+1.5s". False: neither. */
bool ep_when_parse(const char *text, struct ep_when *out);
/* "200" → calls, "5ms" → time. False: neither. */
bool ep_selection_parse_last(struct ep_selection *selection, const char *text);

bool ep_selection_wants_thread(const struct ep_selection *selection,
			       const struct ep_trace_thread *thread);

/* The times that it asks for, as TSC, both inclusive. */
struct ep_window {
	uint64_t since, until;
};
struct ep_window ep_selection_window(const struct ep_selection *selection,
				     const struct ep_trace *trace);

#endif

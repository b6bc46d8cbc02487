/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open_calls.h: what a thread's history says of its end: the calls that are open, the spans that
 * had not ended, the exception that was on its way, and what of the history is missing.
 */
#ifndef EPITAPH_OPEN_CALLS_H
#define EPITAPH_OPEN_CALLS_H

#include "decoder/calls/tail.h"

/* The exception that a thread threw last. */
struct ep_exception {
	bool flying;      /* nobody caught it */
	bool terminating; /* and std::terminate is at it */
	bool rethrown;    /* private: just now */
	char *type;       /* owned; NULL unknown */
	struct ep_time when;
	const struct ep_function *where; /* NULL unknown */
	const struct ep_function *from;  /* the innermost call then; NULL */
};

struct ep_open_calls_span {
	char *name; /* owned */
	struct ep_time since;
};

#define EP_OPEN_CALLS_GAPS 5 /* kinds: bits of EP_GAP_ */

struct ep_open_calls {
	const struct ep_trace_thread *thread; /* NULL: not in the trace */
	bool known;                           /* the trace has records of the thread */
	struct ep_event *calls;               /* open: copies, outermost first */
	size_t count;
	bool outermost_known;             /* nothing was outside of calls[0] */
	struct ep_open_calls_span *spans; /* that had not ended, the latest first */
	size_t span_count;
	struct ep_exception exception;
	const struct ep_function
		*returned; /* the last event of all is its return; NULL: it is none */
	uint64_t gaps[EP_OPEN_CALLS_GAPS]; /* where the last of each kind ends; 0: there is none */
	bool other_stacks;                 /* it went on upon other stacks, unseen */
	struct ep_tail tail;               /* its last events */
	/* private: which functions (by number) were called, and of which modules */
	const struct ep_trace *trace;
	EP_ARRAY(bool) seen;
	bool *seen_modules;
};

/* `thread` may be NULL. */
void ep_open_calls_init(struct ep_open_calls *open, const struct ep_trace *trace,
			const struct ep_trace_thread *thread, struct ep_names *names);
void ep_open_calls_deinit(struct ep_open_calls *open);
/* Frees the tail, and what was seen: most of it, for who keeps those of many threads. */
void ep_open_calls_drop_history(struct ep_open_calls *open);

/* Is a call of it in the history? Of anything in its module? The function is one of the trace's
 * names. */
bool ep_open_calls_saw(const struct ep_open_calls *open, const struct ep_function *function);
bool ep_open_calls_saw_module(const struct ep_open_calls *open, const struct ep_function *function);

/* The open call at `index`, counted from the innermost. */
static inline const struct ep_event *ep_open_calls_inner(const struct ep_open_calls *open,
							 size_t index)
{
	return &open->calls[open->count - 1 - index];
}

/* Takes a POINT into account; `from`: the innermost call then, NULL unknown. */
void ep_exception_note(struct ep_exception *exception, const struct ep_event *point,
		       const struct ep_function *from);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flight.h: what a thread's history says of its end: the calls that were in flight, the spans that
 * had not ended, the exception that was on its way, and what of the history is missing.
 */
#ifndef EPITAPH_FLIGHT_H
#define EPITAPH_FLIGHT_H

#include "decoder/tail.h"

/* The exception that a thread threw last. */
struct ep_thrown {
	bool flying;      /* nobody caught it */
	bool terminating; /* and std::terminate is at it */
	bool rethrown;    /* private: just now */
	char *type;       /* owned; NULL unknown */
	struct ep_time when;
	const struct ep_function *where; /* NULL unknown */
	const struct ep_function *from;  /* the innermost call then; NULL */
};

struct ep_flight_span {
	char *name; /* owned */
	struct ep_time since;
};

#define EP_FLIGHT_GAPS 5 /* kinds: bits of EP_GAP_ */

struct ep_flight {
	const struct ep_trace_thread *thread; /* NULL: not in the trace */
	bool known;                           /* the trace has records of the thread */
	struct ep_event *calls;               /* in flight: copies, outermost first */
	size_t count;
	bool outermost_known;         /* nothing was outside of calls[0] */
	struct ep_flight_span *spans; /* that had not ended, the latest first */
	size_t span_count;
	struct ep_thrown thrown;
	const struct ep_function *returned; /* the last event of all is its
					       return; NULL: it is none */
	uint64_t gaps[EP_FLIGHT_GAPS];      /* where the last of each kind ends; 0:
					       there is none */
	bool other_stacks;                  /* it went on upon other stacks, unseen */
	struct ep_tail tail;                /* its last events */
	/* private: which functions (by number) were called, and of which modules */
	const struct ep_trace *trace;
	uint8_t *seen;
	size_t seen_size;
	bool *seen_modules;
};

/* `thread` may be NULL. EP_OK or EP_E_MEMORY. */
int ep_flight_init(struct ep_flight *flight, const struct ep_trace *trace,
		   const struct ep_trace_thread *thread, struct ep_names *names,
		   struct ep_err *err);
void ep_flight_deinit(struct ep_flight *flight);

/* Is a call of it in the history? Of anything in its module? The function is one of the trace's
 * names. */
bool ep_flight_saw(const struct ep_flight *flight, const struct ep_function *function);
bool ep_flight_saw_module(const struct ep_flight *flight, const struct ep_function *function);

/* The call in flight at `index`, counted from the innermost. */
static inline const struct ep_event *ep_flight_inner(const struct ep_flight *flight, size_t index)
{
	return &flight->calls[flight->count - 1 - index];
}

/* Takes a POINT into account; `from`: the innermost call then, NULL unknown. EP_OK or
 * EP_E_MEMORY. */
int ep_thrown_note(struct ep_thrown *thrown, const struct ep_event *point,
		   const struct ep_function *from);

#endif

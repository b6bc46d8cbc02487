/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calllist.h: the calls of some threads, each with both of its ends, in the
 * order in which they happened: what every output is written from.
 */
#ifndef EPITAPH_CALLLIST_H
#define EPITAPH_CALLLIST_H

#include "decoder/calls.h"

struct ep_call {
	const struct ep_trace_thread *thread;
	const struct ep_function *function; /* NULL: a gap, see below */
	uint64_t address; /* as recorded at its begin (its end: BEFORE) */
	uint32_t depth;
	uint32_t flags;       /* EP_CALL_ */
	bool ended;           /* false: it did not return */
	struct ep_time begin; /* as in struct ep_event */
	struct ep_time end;   /* valid when `ended`, and of a gap */
	uint32_t gap;         /* EP_GAP_ when function is NULL */
	uint64_t lost;
};

/* A line of the story: a call begins, or ends, or history is missing. */
struct ep_moment {
	uint32_t call; /* index */
	bool end;      /* it ends here; STRAY and BEFORE calls only end */
};

struct ep_call_list {
	struct ep_call *calls; /* in order of their begin */
	size_t count;
	struct ep_moment *moments; /* in order of time */
	size_t moment_count;
};

/* The threads that `want` takes (NULL: all), merged. EP_E_MEMORY, EP_OK. */
int ep_call_list_create(struct ep_call_list *out, const struct ep_trace *trace,
			struct ep_names *names,
			bool (*want)(const struct ep_trace_thread *, void *),
			void *context, struct ep_err *err);
void ep_call_list_deinit(struct ep_call_list *list);

/* Nanoseconds from begin to end, by the best numbers; 0 when not ended. */
int64_t ep_call_duration(const struct ep_trace *trace,
			 const struct ep_call *call);
/* The duration is only known to lie within an interval. */
bool ep_call_approximate(const struct ep_call *call);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink.h: the one way of events to those who take them in: an output, a table, the report. One
 * thread's calls (ep_calls_read) and all that are selected (stream.h) come by it, in order of time.
 * A sink's own memory is bounded by what is open, and the functions.
 */
#ifndef EPITAPH_SINK_H
#define EPITAPH_SINK_H

#include "decoder/calls/event.h"

struct ep_calls;
struct ep_nest_thread;

struct ep_sink {
	void *context; /* handed to the function */
	/*
	 * An END comes after its BEGIN, except BEFORE and STRAY ones, which have none; both ends of
	 * a call are selected or neither is. The event is borrowed until the function returns.
	 * EP_OK; anything else ends the reading, and is what that returns. `thread`: NULL unless
	 * `nested`.
	 */
	int (*event)(void *context, const struct ep_event *event,
		     const struct ep_nest_thread *thread);
	bool waits; /* WAIT events come, too: those that reach into the selection's window, of the
		       selected threads, whatever calls are selected */
	/* Each thread's events may come by themselves, one thread after the other: no more than one
	 * thread's calls are held at a time. */
	bool any_order;
	/* May be NULL. Before the first event (`any_order`: of the thread): the gaps, and the ENDs
	 * of calls from BEFORE, that are going to come, each thread's in order. */
	int (*ahead)(void *context, const struct ep_event *event,
		     const struct ep_nest_thread *thread);
	bool nested; /* begins and ends strictly nested, with their frames: nest.h */
	/* nested: times outside of the selection's window count as its edges, for outputs that add
	 * times up. */
	bool clip;
};

/* What is left of one thread's events, all of them; after the last one nothing more comes. EP_OK,
 * or what the sink returned. */
int ep_calls_read(struct ep_calls *calls, const struct ep_sink *sink);

#endif

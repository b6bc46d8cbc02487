/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink.h: the one way from calls to an output. The stream (stream.h) pushes the selected events of
 * all threads in order of time; an output is one file that takes them. Nothing holds all calls: a
 * sink's memory is bounded by what is open and by the number of functions.
 */
#ifndef EPITAPH_SINK_H
#define EPITAPH_SINK_H

#include "decoder/calls/calls.h"

struct ep_sink {
	void *context; /* handed to each of the functions */
	/*
	 * BEGIN, END, GAP or POINT. An END comes after its BEGIN, except BEFORE and STRAY ones,
	 * which have none; both ends of a call are selected or neither is. The event is borrowed
	 * until the function returns.
	 */
	int (*event)(void *context, const struct ep_event *event, struct ep_err *err);
	/*
	 * After the last event: each selected call that did not return, by thread, outermost first.
	 * `event` is its BEGIN, with the flags that were learned since. Then each span that did not
	 * end, likewise: a SPAN_BEGIN, also when that was not selected. May be NULL.
	 */
	int (*open)(void *context, const struct ep_event *event, struct ep_err *err);
	/* As `event`: WAIT events that reach into the selection's window, of the selected threads,
	 * whatever calls are selected. May be NULL. */
	int (*wait)(void *context, const struct ep_event *event, struct ep_err *err);
	/* The BEGIN of a call that does not return is to say so (EP_CALL_OPEN): the trace is read
	 * once more for it. */
	bool foresee;
};

#endif

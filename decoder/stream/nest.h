/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nest.h: a stream as outputs want it that draw calls inside of calls: begins and ends strictly
 * nested in each thread, times that never go back.
 *
 *  - A call from before the history begins where the history does, outside of
 *    all that was called then, though only its return told that it was there.
 *  - When a thread goes on upon another stack (a fiber's), the calls of the
 *    one it left are suspended, and those of the other one resumed.
 *  - At the end the calls that did not return are handed out, innermost first.
 *
 * Memory is bounded by the calls that are open at one time, and those from before the history, for
 * which the stream is run twice.
 */
#ifndef EPITAPH_NEST_H
#define EPITAPH_NEST_H

#include "decoder/stream/stream.h"

struct ep_nest_frame {
	const struct ep_function *function;
	uint64_t call;        /* number in its thread */
	uint64_t address;     /* as recorded at its begin (its end: BEFORE) */
	uint32_t depth;       /* as in struct ep_event */
	uint32_t flags;       /* EP_CALL_, as far as they are known */
	struct ep_time begin; /* as in struct ep_event */
	int64_t since;        /* when it was begun or resumed last */
	int64_t ran;          /* ns in it and in what it called, while suspended: up to
				 then; from `end` on: in all */
	int64_t inner;        /* ns of these in what it called, in gaps, and in waits
				 of which it is not known whose they are */
	int64_t astray;       /* ns of waits that are drawn inside of it, though it is
				 not certain that they are its: no part of `ran` */
	int64_t waited;       /* ns, and certain; up to its end: without what it
				 called */
	int64_t left_out;     /* of astray: since `since` */
	uint64_t mark;        /* the sink's own; 0 at begin */
};

struct ep_nest_thread {
	const struct ep_trace_thread *thread;
	size_t index;                 /* of the thread in the trace */
	struct ep_nest_frame *frames; /* open now, outermost first; the one
				    begun or ended is the last of them */
	size_t count;
	int64_t now; /* ns since the trace's first record, never back; what
			lies before counts as 0 */
	int64_t gap; /* ns that are missing, at a GAP; of a WAIT */
};

enum ep_nest_why {
	EP_NEST_CALL,   /* a call, or its end */
	EP_NEST_BEFORE, /* begin only: began before the history */
	EP_NEST_SWITCH, /* suspended, or resumed */
	EP_NEST_OPEN,   /* end only: it did not return; now is the last moment
			   that is known of its thread */
	EP_NEST_LEFT,   /* end only, of a call that is suspended since: it did
			   not return; it is not among the frames */
};

/* Any function may be NULL, but for begin and end. `event` is NULL unless `why` is EP_NEST_CALL, or
 * the end of a call from before. All is borrowed until the function returns, which yields EP_OK or
 * an error that ends the stream. */
struct ep_nest_sink {
	void *context;
	int (*begin)(void *context, const struct ep_nest_thread *thread,
		     struct ep_nest_frame *frame, enum ep_nest_why why,
		     const struct ep_event *event, struct ep_err *err);
	int (*end)(void *context, const struct ep_nest_thread *thread, struct ep_nest_frame *frame,
		   enum ep_nest_why why, const struct ep_event *event, struct ep_err *err);
	/* A GAP, a POINT, or the END of a STRAY return. */
	int (*moment)(void *context, const struct ep_nest_thread *thread,
		      const struct ep_event *event, struct ep_err *err);
	/* A span that did not end: its SPAN_BEGIN, after all events. */
	int (*span)(void *context, const struct ep_nest_thread *thread,
		    const struct ep_event *event, struct ep_err *err);
	/* The thread was off its CPU: a WAIT, for `ns`. It was in the first `own` of the frames for
	 * certain; see `place`. */
	int (*wait)(void *context, const struct ep_nest_thread *thread, size_t own, int64_t ns,
		    const struct ep_event *event, struct ep_err *err);
};

/* As ep_stream. `clip`: times outside of the selection's window count as its edges, for outputs
 * that add times up. */
int ep_nest_stream(const struct ep_trace *trace, struct ep_names *names,
		   const struct ep_selection *selection, bool clip, const struct ep_nest_sink *sink,
		   uint64_t *shown, struct ep_err *err);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nest.h: a stream as outputs want it that draw calls inside of calls: begins and ends strictly
 * nested in each thread, times that never go back.
 *
 *  - A call from before the history begins where the history does, outside of
 *    all that was called then, though only its return showed that it was there.
 *  - When a thread goes on upon another stack (a fiber's), the calls of the
 *    one it left are suspended, and those of the other one resumed.
 *  - At the end the calls that did not return are handed out, innermost first.
 *
 * Its own memory is bounded by the calls that are open at one time, and those from before the
 * history.
 */
#ifndef EPITAPH_NEST_H
#define EPITAPH_NEST_H

#include "decoder/calls/sink.h"
#include "decoder/stream/selection.h"

struct ep_nest_frame {
	const struct ep_function *function;
	uint64_t call;        /* number in its thread */
	uint64_t address;     /* as recorded at its begin (its end: BEFORE) */
	uint32_t depth;       /* as in struct ep_event */
	uint32_t flags;       /* EP_CALL_, as far as they are known */
	struct ep_time begin; /* as in struct ep_event */
	int64_t since;        /* when it was begun or resumed last */
	int64_t ran; /* ns in it and in what it called, while suspended: up to then; from `end` on:
			in all */
	int64_t inner;    /* ns of these in what it called, in gaps, and in waits of which it is not
			     known whose they are */
	int64_t astray;   /* ns of waits that are drawn inside of it, though it is not certain that
			     they are its: no part of `ran` */
	int64_t waited;   /* ns, and certain; up to its end: without what it called */
	int64_t left_out; /* of astray: since `since` */
	uint64_t mark;    /* the sink's own; 0 at BEGIN */
};

/*
 * Where an event of a nested stream happens. A call from before the history begins with
 * EP_CALL_BEFORE. SUSPEND and RESUME come for each frame of a stack that is left or entered; OPEN
 * at the last moment that is known of the thread, LEFT for calls that are suspended then. Of BEGIN
 * (BEFORE), SUSPEND, RESUME, OPEN and LEFT only kind, thread, function and flags are filled in: the
 * frame says the rest.
 */
struct ep_nest_thread {
	const struct ep_trace_thread *thread;
	size_t index;                 /* of the thread in the trace */
	struct ep_nest_frame *frames; /* open now, outermost first */
	size_t count;
	struct ep_nest_frame *frame; /* that begins or ends: the last of them, but at LEFT, when it
					is none of them */
	int64_t now; /* ns since the trace's first record, never back; what lies before counts as 0
		      */
	int64_t gap; /* ns that are missing, at a GAP; of a WAIT */
	size_t own;  /* WAIT: the thread was in the first so many frames for certain; see `place` */
};

/* As ep_stream, which calls it, of a sink that is `nested`. */
int ep_nest_stream(const struct ep_trace *trace, struct ep_names *names,
		   const struct ep_selection *selection, const struct ep_sink *sink,
		   uint64_t *shown);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.h: records → calls. Pairs calls and returns of one thread, in a single pass, oldest first.
 * It never invents a return: what was still open at the end stays open. A call that is left without
 * a return of its own (longjmp, an exception, lost records) ends with ABANDONED where its caller is
 * seen to go on; a return without a call (it began before the history, or a thunk) pops nothing.
 */
#ifndef EPITAPH_CALLS_H
#define EPITAPH_CALLS_H

#include "decoder/calls/sink.h"

struct ep_calls;

/* Iterates one thread. A first pass over its records counts the returns of calls from before the
 * history, so that depths are right from the start. */
struct ep_calls *ep_calls_create(const struct ep_trace *trace, const struct ep_trace_thread *thread,
				 struct ep_names *names);
void ep_calls_destroy(struct ep_calls *calls);

/* WAIT events come, too. Called before the first event. */
void ep_calls_with_waits(struct ep_calls *calls);

/*
 * The same without the first pass, in half the time, for those who take in what comes and can begin
 * again. All depths are too large by one number, which is known after EP_END: ep_calls_once_held
 * corrects those of open calls and says how much is to be taken from the others. False: what came
 * cannot be relied on, and the thread is to be read again, by ep_calls_create.
 */
struct ep_calls *ep_calls_create_once(const struct ep_trace *trace,
				      const struct ep_trace_thread *thread, struct ep_names *names);
bool ep_calls_once_held(struct ep_calls *calls, uint32_t *too_deep);

/*
 * Calls that return in the block of records that they began in do not come, nor what is inside of
 * them: a fraction of the time, for those who ask for what is open, for gaps and points, and for
 * the end. The last `in_full` blocks come in full, and so does the last event of each. Before the
 * first event.
 */
void ep_calls_pass_over(struct ep_calls *calls, size_t in_full);

/* The functions of all calls so far, passed over or not, in any order: *next begins with 0. NULL:
 * no more. */
const struct ep_function *ep_calls_called(const struct ep_calls *calls, size_t *next);

/* Blocks of the thread that are not yet being read. */
size_t ep_calls_blocks_left(const struct ep_calls *calls);

/* EP_OK and *out (borrowed until the next call), or EP_END. Or all at once: ep_calls_read. */
int ep_calls_next(struct ep_calls *calls, const struct ep_event **out);

/*
 * Calls open right now, outermost first; after EP_END: those that did not return. Each is the BEGIN
 * event of that call. Borrowed until the next call.
 */
const struct ep_event *ep_calls_open(const struct ep_calls *calls, size_t *count);

/* The same of the stacks that the thread left to go on upon another one (swapcontext), `index` from
 * 0. NULL: there are no more. */
const struct ep_event *ep_calls_suspended(const struct ep_calls *calls, size_t index,
					  size_t *count);

/* Spans that are open right now, the oldest first: their SPAN_BEGIN events. Borrowed until the next
 * call. */
const struct ep_event *ep_calls_spans(const struct ep_calls *calls, size_t *count);

/* True when nothing can be outside of the outermost open call: the thread's history is whole. */
bool ep_calls_outermost_known(const struct ep_calls *calls);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.h: records → calls. Pairs calls and returns of one thread, in a single pass, oldest first.
 * It never invents a return: what was still open at the end stays open. A call that is left without
 * a return of its own (longjmp, an exception, lost records) ends with ABANDONED where its caller is
 * seen to go on; a return without a call (it began before the history, or a thunk) pops nothing.
 */
#ifndef EPITAPH_CALLS_H
#define EPITAPH_CALLS_H

#include "decoder/names/names.h"
#include "decoder/trace/records.h"

enum ep_event_kind {
	EP_EVENT_BEGIN, /* a call begins */
	EP_EVENT_END,   /* a call ends; every END has had its BEGIN, or is
			   BEFORE */
	EP_EVENT_GAP,   /* history is missing here */
	EP_EVENT_POINT, /* something happened inside the innermost open call */
	EP_EVENT_WAIT,  /* the thread was off its CPU from begin to end, in
			   `call`: see `place`. Only where it is asked for */
};

/* What happened at a POINT, and what its `text` says. */
enum ep_point {
	EP_POINT_THROW,   /* the type thrown, demangled */
	EP_POINT_RETHROW, /* "" */
	EP_POINT_CATCH,   /* "" */
	EP_POINT_LONGJMP,
	/* "" */ EP_POINT_STACK, /* "": execution went on upon another stack (a
    fiber's), where other calls are open. Else words:
    it does so unseen, and from here on nothing is
    certain of what is inside of what */
	EP_POINT_NOTE,           /* what epitaph_note would have printed */
	EP_POINT_SPAN_BEGIN,     /* the span's name */
	EP_POINT_SPAN_END,       /* the same; EP_CALL_BEFORE: its begin is not among
				    what is left */
	EP_POINT_WATCHDOG,       /* which one had not been fed for how much too
				    long, in words */
};

/* "throw", "rethrow", "catch", "longjmp", "stack", "note", "span-begin", "span-end", "watchdog".
 * Static. */
const char *ep_point_word(enum ep_point point);

#define EP_CALL_BEFORE                                                    \
	1u                   /* END only: began before the history; begin \
				unknown */
#define EP_CALL_ABANDONED 2u /* END only: left without a return of its own */
#define EP_CALL_STRAY                                         \
	4u /* END only: a return that belongs to no call,     \
	      though calls are open (a thunk's): its depth is \
	      that of the innermost open call */
#define EP_CALL_ACROSS_GAP                                                \
	8u /* history is missing inside the call: END, and calls that are \
	      open. Perhaps it is another call of the same function. With \
	      BEFORE: it began where history is missing, or before */
#define EP_CALL_AMBIGUOUS                                                  \
	16u /* END: several calls of this function were open, and others   \
	       above the innermost of them: that one was taken. Or the end \
	       is a guess in a thread that switches stacks unseen */

#define EP_CALL_UNWOUND                                              \
	32u /* END, with ABANDONED: an exception or longjmp is known \
	       to have left it, at this time */

#define EP_CALL_UNSURE_WAIT                                             \
	128u /* it may have waited, or a call near it: when it began or \
		ended is not known as well as that (placing.h) */

#define EP_CALL_OPEN 64u /* BEGIN: it does not return; see sink.h */

/* A time as an interval of TSC, and the best single number for it. */
struct ep_time {
	uint64_t low, high; /* high may be EP_TIME_UNKNOWN */
	uint64_t best;
	bool exact;
	bool refined; /* as in struct ep_record */
};

struct ep_event {
	enum ep_event_kind kind;
	const struct ep_trace_thread *thread;
	const struct ep_function *function; /* NULL for GAP, and for a POINT
					      whose place is unknown */
	uint64_t address;                   /* as recorded by the hook at begin or end */
	uint32_t depth;                     /* 0 outermost known; callers from before the history
					       whose returns are still to come are counted */
	uint32_t flags;                     /* EP_CALL_ */
	uint32_t stack;                     /* which of the thread's stacks it happens on, 0 its
					       own; of EP_POINT_STACK: the one that goes on */
	uint64_t call;                      /* number of the call in its thread, from 0; BEGIN and
					       END of one call have the same; likewise, counted
					       for themselves, SPAN_BEGIN and SPAN_END */
	struct ep_time begin;               /* of the call; when BEFORE: low 0, high and best
					       the oldest time that is known of it */
	struct ep_time end;                 /* END; GAP: begin..end is what is missing */
	uint32_t gap;                       /* GAP: EP_GAP_ */
	union {
		uint64_t lost;                     /* GAP: as in struct ep_record */
		uint64_t astray;                   /* BEGIN, END: cycles within its times in which
						      the thread was off its CPU, in it or in a
						      call near it */
		const struct ep_wait_place *place; /* WAIT: borrowed */
	};
	enum ep_point point;  /* POINT: begin is when; `address` is where, and
				 `function` the one that it lies in */
	const char *text;     /* POINT: see enum ep_point; GAP: the beginning of
				 the text that lies over records, else NULL;
				 valid UTF-8 */
	struct ep_time since; /* SPAN_END, not BEFORE: of its begin */
};

struct ep_wait_place;
struct ep_slice_times;

/* What the time of a call that ended was spent on, as far as that is certain; what is not counts as
 * unknown, and is at least 1 ns where EP_CALL_UNSURE_WAIT is set. False: it has no begin, or
 * nothing is known of it. */
bool ep_event_times(const struct ep_trace *trace, const struct ep_event *event,
		    struct ep_slice_times *out);

struct ep_calls;

/* Iterates one thread. A first pass over its records counts the returns of calls from before the
 * history, so that depths are right from the start. EP_E_MEMORY is all that can go wrong. */
int ep_calls_create(struct ep_calls **out, const struct ep_trace *trace,
		    const struct ep_trace_thread *thread, struct ep_names *names,
		    struct ep_err *err);
void ep_calls_destroy(struct ep_calls *calls);

/* WAIT events are told, too. Before the first event. */
void ep_calls_tell_waits(struct ep_calls *calls);

/*
 * The same without the first pass, in half the time, for those who take in what comes and can begin
 * again. All depths are too large by one number, which is known after EP_END: ep_calls_once_held
 * corrects those of open calls and says how much is to be taken from the others. False: what came
 * cannot be relied on, and the thread is to be read again, by ep_calls_create.
 */
int ep_calls_create_once(struct ep_calls **out, const struct ep_trace *trace,
			 const struct ep_trace_thread *thread, struct ep_names *names,
			 struct ep_err *err);
bool ep_calls_once_held(struct ep_calls *calls, uint32_t *too_deep);

/*
 * Calls that return in the block of records that they began in are not told, nor is what is inside
 * of them: a fraction of the time, for those who ask for what is open, for gaps and points, and for
 * the end. The last `in_full` blocks are told in full, and so is the last event of each. Before the
 * first event.
 */
void ep_calls_pass_over(struct ep_calls *calls, size_t in_full);

/* The functions of all calls so far, told or not, in any order: *next begins with 0. NULL: no
 * more. */
const struct ep_function *ep_calls_called(const struct ep_calls *calls, size_t *next);

/* Blocks of the thread that are not yet being read. */
size_t ep_calls_blocks_left(const struct ep_calls *calls);

/* EP_OK and *out (borrowed until the next call), EP_END, or EP_E_MEMORY, which stays. */
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

/* All threads (or those that `want` names) merged by time, ties by serial. */
struct ep_merge;
int ep_merge_create(struct ep_merge **out, const struct ep_trace *trace, struct ep_names *names,
		    bool (*want)(const struct ep_trace_thread *, void *), void *context,
		    struct ep_err *err);
/* With WAIT events. */
int ep_merge_create_waits(struct ep_merge **out, const struct ep_trace *trace,
			  struct ep_names *names,
			  bool (*want)(const struct ep_trace_thread *, void *), void *context,
			  struct ep_err *err);
void ep_merge_destroy(struct ep_merge *merge);
/* As ep_calls_next. */
int ep_merge_next(struct ep_merge *merge, const struct ep_event **out);
/* The calls of one thread of the merge, for ep_calls_open after EP_END; NULL: it is not among
 * them. */
const struct ep_calls *ep_merge_calls(const struct ep_merge *merge,
				      const struct ep_trace_thread *thread);

#endif

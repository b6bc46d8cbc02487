/* SPDX-License-Identifier: BSD-2-Clause */
/* event.h: what a thread did, as all who read calls get to know it: a call begins or ends, history
 * is missing, something happened in a call, the thread was off its CPU. */
#ifndef EPITAPH_EVENT_H
#define EPITAPH_EVENT_H

#include "decoder/names/names.h"
#include "decoder/trace/records.h"

enum ep_event_kind {
	EP_EVENT_BEGIN, /* a call begins */
	EP_EVENT_END,   /* a call ends; every END has had its BEGIN, or is BEFORE */
	EP_EVENT_GAP,   /* history is missing here */
	EP_EVENT_POINT, /* something happened inside the innermost open call */
	EP_EVENT_WAIT, /* the thread was off its CPU from begin to end, in `call`: see `place`. Only
			  where it is asked for */
	/* After all others, of a stream: each selected call that did not return, by thread,
	 * outermost first: its BEGIN, with the flags that were learned since. Then each span that
	 * did not end, likewise, also when its begin was not selected. */
	EP_EVENT_OPEN,
	EP_EVENT_OPEN_SPAN,
	/* Of nested streams only (nest.h). */
	EP_EVENT_SUSPEND, /* the thread goes on upon another stack */
	EP_EVENT_RESUME,  /* and comes back to this one */
	EP_EVENT_LEFT,    /* as OPEN, of a call that is suspended since */
};

/* What happened at a POINT, and what its `text` says. */
enum ep_point {
	EP_POINT_THROW,   /* the type thrown, demangled */
	EP_POINT_RETHROW, /* "" */
	EP_POINT_CATCH,   /* "" */
	EP_POINT_LONGJMP, /* "" */
	/* "": execution went on upon another stack (a fiber's), where other calls are open. Else
	 * words: it does so unseen, and from here on nothing is certain of what is inside of
	 * what */
	EP_POINT_STACK,
	EP_POINT_NOTE,       /* what epitaph_note would have printed */
	EP_POINT_SPAN_BEGIN, /* the span's name */
	EP_POINT_SPAN_END,   /* the same; EP_CALL_BEFORE: its begin is not among what is left */
	EP_POINT_WATCHDOG,   /* which one had not been fed for how much too long, in words */
};

/* "throw", "rethrow", "catch", "longjmp", "stack", "note", "span-begin", "span-end", "watchdog".
 * Static. */
const char *ep_point_word(enum ep_point point);

/* END only: began before the history; begin unknown. Nested: also its BEGIN, where the history
 * begins. */
#define EP_CALL_BEFORE    1u
#define EP_CALL_ABANDONED 2u /* END only: left without a return of its own */
/* END only: a return that belongs to no call, though calls are open (a thunk's): its depth is that
 * of the innermost open call. */
#define EP_CALL_STRAY 4u
/* History is missing inside the call: END, and calls that are open. Perhaps it is another call of
 * the same function. With BEFORE: it began where history is missing, or before. */
#define EP_CALL_ACROSS_GAP 8u
/* END: several calls of this function were open, and others above the innermost of them: that one
 * was taken. Or the end is a guess in a thread that switches stacks unseen. */
#define EP_CALL_AMBIGUOUS 16u
/* END, with ABANDONED: an exception or longjmp is known to have left it, at this time. */
#define EP_CALL_UNWOUND 32u
#define EP_CALL_OPEN    64u /* BEGIN, of a stream: it does not return */
/* It may have waited, or a call near it: when it began or ended is not known as well as that
 * (placing.h). */
#define EP_CALL_UNSURE_WAIT 128u

/* END: its function's hooks were switched off, and nothing more is known of it: it was open at
 * `end`, and may have gone on for any time. A call that did not return: it may have, since then. */
#define EP_CALL_SWITCHED 256u

/* A time as an interval of TSC, and the best single number for it. */
struct ep_time {
	uint64_t low, high; /* high may be EP_TIME_UNKNOWN */
	uint64_t best;
	bool exact;
	bool refined;  /* as in struct ep_record */
	bool sampled;  /* the same */
	uint32_t open; /* the same */
};

struct ep_event {
	enum ep_event_kind kind;
	const struct ep_trace_thread *thread;
	const struct ep_function
		*function; /* NULL for GAP, and for a POINT whose place is unknown */
	uint64_t address;  /* as recorded by the hook at begin or end */
	uint32_t depth;    /* 0 outermost known; callers from before the history whose returns are
			      still to come are counted */
	uint32_t flags;    /* EP_CALL_ */
	uint32_t stack; /* which of the thread's stacks it happens on, 0 its own; of EP_POINT_STACK:
			   the one that goes on */
	uint64_t call;  /* number of the call in its thread, from 0; BEGIN and END of one call have
			   the same; likewise, counted for themselves, SPAN_BEGIN and SPAN_END */
	struct ep_time begin; /* of the call; when BEFORE: low 0, high and best the oldest time that
				 is known of it */
	struct ep_time end;   /* END; GAP: begin..end is what is missing */
	uint32_t gap;         /* GAP: EP_GAP_ */
	union {
		uint64_t lost;   /* GAP: as in struct ep_record */
		uint64_t astray; /* BEGIN, END: cycles within its times in which the thread was off
				    its CPU, in it or in a call near it */
		const struct ep_wait_place *place; /* WAIT: borrowed */
	};
	enum ep_point point; /* POINT: begin is when; `address` is where, and `function` the one
				that it lies in */
	const char *text; /* POINT: see enum ep_point; GAP: the beginning of the text that lies over
			     records, else NULL; valid UTF-8 */
	struct ep_time since; /* SPAN_END, not BEFORE: of its begin */
};

struct ep_wait_place;
struct ep_slice_times;

/* `cycles` of a time's interval: what is open of these. */
static inline uint64_t ep_time_open_part(const struct ep_time *time, uint64_t cycles)
{
	uint64_t length = time->high - time->low;

	if (time->open >= length)
		return time->open ? cycles : 0;
	return (uint64_t)((double)cycles * time->open / (double)length);
}

/* What is open of a call: of the runs of records in which it began and ended, the call may have
 * none of a run's, or all. */
struct ep_open {
	const struct ep_time *time; /* the run's; borrowed from the event */
	uint64_t part; /* cycles of time->open that the event's times give to the call */
};

/* Of a call that ended and has a begin; how many, at most 2. */
unsigned ep_event_open(const struct ep_event *event, struct ep_open out[2]);

/* How long a call took, in ns, by what is open. */
struct ep_took {
	int64_t likely, least, most;
};

/* Of a call that ended; false: it has no begin, or no end that is known. */
bool ep_event_took(const struct ep_trace *trace, const struct ep_event *event, struct ep_took *out);

/* What the time of a call that ended was spent on, as far as that is certain; what is not counts as
 * unknown, and is at least 1 ns where EP_CALL_UNSURE_WAIT is set. False: it has no begin, or
 * nothing is known of it. */
bool ep_event_times(const struct ep_trace *trace, const struct ep_event *event,
		    struct ep_slice_times *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alignment.h: an unwound stack beside the open calls that the trace knows: one list, innermost
 * first, of rows that have a frame, a call, or both, each with a verdict and the reason for it.
 *
 * Frames and calls are paired by function, in order, as many as can be (the longest common
 * subsequence), preferring the innermost: recursion, tail calls and untraced frames need no rule of
 * their own. A frame whose call cannot be open, by where it stands in its code, is not paired.
 */
#ifndef EPITAPH_ALIGNMENT_H
#define EPITAPH_ALIGNMENT_H

#include "decoder/calls/open_calls.h"
#include "decoder/stack/frame.h"

enum ep_verdict {
	EP_VERDICT_AGREE,            /* frame and call */
	EP_VERDICT_NOT_INSTRUMENTED, /* frame: the trace cannot have it */
	EP_VERDICT_INLINED,          /* frame: a call that the compiler inlined */
	EP_VERDICT_ENTERING,         /* frame: its hook had not recorded the call yet */
	EP_VERDICT_RETURNING,        /* frame: its hook had recorded the return already */
	EP_VERDICT_TRACE_LOST,       /* frame: the trace should have it, and has not */
	EP_VERDICT_UNKNOWN,          /* frame: whether it has hooks is not known */
	EP_VERDICT_OVERWRITTEN, /* frame: it is not to be believed; call: the stack is not from here
				   on */
	EP_VERDICT_FRAME_LOST,  /* call: the stack has no frame of it */
	EP_VERDICT_NOT_UNWOUND, /* call: the unwinder did not get that far */
	EP_VERDICT_COUNT,
};

/* How that is known. */
enum ep_reason {
	EP_REASON_NONE,
	/* not instrumented */
	EP_REASON_NO_HOOK,
	EP_REASON_OWN_HOOK,
	EP_REASON_SWITCHED_OFF,
	EP_REASON_SIGNAL,
	EP_REASON_SILENT_MODULE,
	EP_REASON_NO_FILE,
	EP_REASON_NOWHERE,
	EP_REASON_UNREADABLE,
	/* trace lost */
	EP_REASON_BEFORE_HISTORY,
	EP_REASON_BEFORE_FORK,
	EP_REASON_LOST_BLOCKS,
	EP_REASON_PAUSED,
	EP_REASON_WAS_OFF,
	EP_REASON_HOLE,
	EP_REASON_ESCAPE,
	EP_REASON_TEXT,
	EP_REASON_NO_HISTORY,
	EP_REASON_UNTOLD,
	/* overwritten */
	EP_REASON_CONTRADICTED,
	EP_REASON_GUESSED,
	EP_REASON_TRACE_GOES_ON,
	/* frame lost */
	EP_REASON_SKIPPED,
	EP_REASON_ACROSS_GAP,
	EP_REASON_OFF_SINCE,
	EP_REASON_OTHER_STACK,
	/* not unwound */
	EP_REASON_LIMIT,
	EP_REASON_UNSAVED,
	EP_REASON_NO_UNWIND,
	EP_REASON_NO_STACK,
	EP_REASON_COUNT,
};

/* Machine names ("not-instrumented", "no-hook"), and words for people. */
const char *ep_verdict_name(enum ep_verdict verdict);
const char *ep_verdict_words(enum ep_verdict verdict);
const char *ep_reason_name(enum ep_reason reason);
const char *ep_reason_words(enum ep_reason reason);

struct ep_alignment_row {
	const struct ep_frame *frame;       /* NULL: a call without a frame */
	size_t number;                      /* of the frame */
	const struct ep_function *function; /* of the frame, or of the call */
	const char *inlined; /* the function that was inlined into the frame; NULL: its own */
	struct ep_line line; /* where the frame is */
	const struct ep_event *call; /* its BEGIN; NULL: a frame without */
	enum ep_verdict verdict;
	enum ep_reason reason;
};

#define EP_ROW_NONE SIZE_MAX

struct ep_alignment {
	struct ep_alignment_row *rows; /* innermost first; owned */
	size_t count;
	size_t overwritten; /* the first row from which on the stack is not believed; EP_ROW_NONE:
			       all of it is */
	size_t edge; /* the first row of which the trace cannot know, as its history begins later;
			EP_ROW_NONE: it knows all */
};

struct ep_alignment_of {
	struct ep_source *source;
	struct ep_names *names;       /* of the trace */
	struct ep_names *others;      /* of the source's modules; NULL */
	const struct ep_stack *stack; /* NULL: there is none */
	const struct ep_open_calls *open;
	bool inlines;   /* calls that were inlined into frames get rows, too */
	bool own_lines; /* of the system's libraries neither lines nor inlined calls are asked for,
			   which costs reading their debug information */
};

/* Rows borrow from all that `of` names. */
void ep_alignment_init(struct ep_alignment *alignment, const struct ep_alignment_of *of);
void ep_alignment_deinit(struct ep_alignment *alignment);

#endif

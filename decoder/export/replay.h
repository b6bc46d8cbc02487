/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay.h: calls as an indented tree, for people, and as tab-separated lines, for programs,
 * written as they come out of a stream.
 */
#ifndef EPITAPH_REPLAY_H
#define EPITAPH_REPLAY_H

#include "decoder/util/outbuf.h"
#include "decoder/stream/stream.h"

/* Escape sequences, "" for none. */
struct ep_replay_style {
	const char *plain, *dim, *warn, *name;
	bool threads;    /* a column that names the thread */
	bool full_names; /* else as people say them (short_name.h) */
};

/*
 * A tree being printed. Times count back from the end (end.h); ~ marks those known within an
 * interval only, > those known not to be earlier. A call that is followed by its own end becomes
 * one line, so that the last event waits.
 */
struct ep_replay {
	struct ep_outbuf *out; /* borrowed, as the next two */
	const struct ep_trace *trace;
	const struct ep_replay_style *style;
	uint32_t outdent; /* depths that are not printed */
	bool waits;
	struct ep_event begin; /* that waits */
	uint32_t depth;        /* at which something would happen now */
	size_t kernel_event;   /* of the schedule: the next to be printed */
};

void ep_replay_init(struct ep_replay *replay, struct ep_outbuf *out, const struct ep_trace *trace,
		    const struct ep_replay_style *style);
/* A sink's `event`; context is a struct ep_replay. Always EP_OK. */
int ep_replay_event(void *context, const struct ep_event *event, const struct ep_nest_thread *none);
/* After the last event. */
void ep_replay_end(struct ep_replay *replay);

/* One line an event; the first, which begins with #, names the columns. A second one of that kind,
 * "# end", has the trace's end, up to which calls that did not return are counted, in the columns
 * of the times (earliest and latest differ where the process may have ended later), and - in the
 * others. */
void ep_replay_tsv_head(struct ep_outbuf *out, const struct ep_trace *trace);
/* A sink's `event`; context is a struct ep_replay that was initialised. */
int ep_replay_tsv_event(void *context, const struct ep_event *event,
			const struct ep_nest_thread *none);

/* "3 blocks of history are gone", … of a GAP. Returns `out`. */
#define EP_REPLAY_GAP_SIZE 320
const char *ep_replay_gap(char out[EP_REPLAY_GAP_SIZE], const struct ep_event *event);

/* The event's duration is only known to lie within an interval. */
bool ep_replay_approximate(const struct ep_event *event);

#endif

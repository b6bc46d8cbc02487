/* SPDX-License-Identifier: BSD-2-Clause */
/* report_impl.h: the parts of a report, for each other. */
#ifndef EPITAPH_REPORT_IMPL_H
#define EPITAPH_REPORT_IMPL_H

#include "decoder/report.h"
#include "decoder/timetext.h"

#define EP_REPORT_OTHER_FRAMES 12

/* One thread, as the core and the trace know it; either may be NULL. */
struct ep_report_thread {
	const struct ep_source_thread *core;
	const struct ep_trace_thread *trace;
};

/* Fit to be shown; the caller frees it. NULL: the report is starved. */
char *ep_report_tamed(struct ep_report *report, const char *text);

/* Calls that were in flight: copies, outermost first. */
struct ep_report_flight {
	struct ep_event *calls;
	size_t count;
	bool outermost_known; /* nothing was outside of calls[0] */
	bool known;           /* the trace has records of the thread */
};
int ep_report_flight_init(struct ep_report_flight *flight,
			  const struct ep_report *report,
			  const struct ep_trace_thread *thread,
			  struct ep_err *err);
void ep_report_flight_deinit(struct ep_report_flight *flight);

/* The function at a frame's pc, in whichever names know it. Never NULL. */
const struct ep_function *ep_report_function(const struct ep_report *report,
					     const struct ep_frame *frame);

/* "#0 …" lines, each beside its call of the trace. */
void ep_report_stack(struct ep_report *report, const struct ep_stack *stack,
		     const struct ep_report_flight *flight);
/* One line: "read < serve_connection < worker_main". */
void ep_report_stack_line(struct ep_report *report,
			  const struct ep_stack *stack);
/* Lines: calls in flight, innermost first. `head` goes before. */
void ep_report_flight(struct ep_report *report,
		      const struct ep_report_flight *flight, const char *head);

/* Its last calls as a tree; `thread` may be NULL. EP_OK or EP_E_MEMORY. */
int ep_report_last(struct ep_report *report,
		   const struct ep_trace_thread *thread, uint64_t calls,
		   struct ep_err *err);

/* "~1.234 us": how long before the end; "?" when that is not known. */
const char *ep_report_ago(struct ep_report *report, const struct ep_time *time,
			  char out[EP_TIMETEXT_SIZE + 2]);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* first.c: the first fault of a report's process, and which of its thread's calls came after it. */
#include "decoder/report/model.h"

#define HANDLER_FRAME 1024u /* bytes of it that are looked at */

int ep_report_find_first(struct ep_report *report, struct ep_err *err)
{
	int rc;

	if (report->first_known)
		return EP_OK;
	rc = ep_first_fault_find(&report->first, report->source, report->unwinder, report->names,
				 report->others, err);
	report->first_known = rc == EP_OK;
	return rc;
}

void ep_report_death(const struct ep_report *report, struct ep_death *out)
{
	ep_source_death(report->source, out);
	if (report->first.found)
		*out = report->first.signal.death;
}

/* ---- the handler's calls ---- */

/* The outermost that is still open: frames inside of the signal frame. */
static const struct ep_event *open_call(const struct ep_report *report,
					const struct ep_alignment *alignment)
{
	const struct ep_event *call = NULL;

	for (size_t i = 0; i < alignment->count; i++) {
		const struct ep_row *row = &alignment->rows[i];

		if (row->frame && row->number >= report->first.frame)
			break;
		if (row->frame && row->call)
			call = row->call;
	}
	return call;
}

/* A handler that has returned left its frame's memory below the signal frame: the nearest address
 * of code there is one that it called something from. */
static const struct ep_function *returned_handler(const struct ep_report *report)
{
	uint64_t context = report->first.signal.context;

	for (uint64_t down = 16; down <= HANDLER_FRAME && down < context; down += 8) {
		struct ep_frame frame = {0};
		const struct ep_function *function;

		if (ep_source_read(report->source, context - down, &frame.pc, sizeof(frame.pc),
				   NULL, NULL))
			return NULL;
		function = ep_frame_function(report->names, report->others, &frame);
		if (function->in && function->known)
			return function;
	}
	return NULL;
}

/* Then its call is the last of those that the interrupted one made. */
static const struct ep_event *returned_call(const struct ep_report *report,
					    const struct ep_open_calls *flight)
{
	const struct ep_tail *tail = &flight->tail;
	const struct ep_function *handler = returned_handler(report);
	uint32_t depth = flight->count ? ep_open_calls_inner(flight, 0)->depth + 1 : 0;

	for (size_t i = tail->count; handler && i-- > tail->callers;) {
		const struct ep_event *event = &tail->events[i];

		if (event->kind == EP_EVENT_BEGIN && event->depth == depth)
			return event->function == handler ? event : NULL;
	}
	return NULL;
}

const struct ep_event *ep_report_handler_call(const struct ep_report *report,
					      const struct ep_alignment *alignment,
					      const struct ep_open_calls *flight)
{
	if (!report->first.found)
		return NULL;
	return report->first.frame ? open_call(report, alignment) : returned_call(report, flight);
}

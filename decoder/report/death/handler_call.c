/* SPDX-License-Identifier: BSD-2-Clause */
/* handler_call.c: which of a thread's calls are those of the handler that the first fault called.
 */
#include "decoder/report/death/handler_call.h"

#define HANDLER_FRAME 1024u /* bytes of it that are looked at */

/* The outermost that is still open: frames inside of the signal frame. */
static const struct ep_event *open_call(const struct ep_evidence *evidence,
					const struct ep_alignment *alignment)
{
	const struct ep_event *call = NULL;

	for (size_t i = 0; i < alignment->count; i++) {
		const struct ep_alignment_row *row = &alignment->rows[i];

		if (row->frame && row->number >= evidence->first.frame)
			break;
		if (row->frame && row->call)
			call = row->call;
	}
	return call;
}

/* A handler that has returned left its frame's memory below the signal frame: the nearest address
 * of code there is one that it called something from. */
static const struct ep_function *returned_handler(const struct ep_evidence *evidence)
{
	uint64_t context = evidence->first.signal.context;

	for (uint64_t down = 16; down <= HANDLER_FRAME && down < context; down += 8) {
		struct ep_frame frame = {0};
		const struct ep_function *function;

		if (ep_source_read(evidence->source, context - down, &frame.pc, sizeof(frame.pc),
				   NULL, NULL))
			return NULL;
		function = ep_evidence_function(evidence, &frame);
		if (function->in && function->known)
			return function;
	}
	return NULL;
}

/* Then its call is the last of those that the interrupted one made. */
static const struct ep_event *returned_call(const struct ep_evidence *evidence,
					    const struct ep_open_calls *open)
{
	const struct ep_tail *tail = &open->tail;
	const struct ep_function *handler = returned_handler(evidence);
	uint32_t depth = open->count ? ep_open_calls_inner(open, 0)->depth + 1 : 0;

	for (size_t i = tail->events.count; handler && i-- > tail->callers;) {
		const struct ep_event *event = &tail->events.list[i];

		if (event->kind == EP_EVENT_BEGIN && event->depth == depth)
			return event->function == handler ? event : NULL;
	}
	return NULL;
}

const struct ep_event *ep_report_handler_call(const struct ep_evidence *evidence,
					      const struct ep_alignment *alignment,
					      const struct ep_open_calls *open)
{
	if (!evidence->first.found)
		return NULL;
	return evidence->first.frame ? open_call(evidence, alignment)
				     : returned_call(evidence, open);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * last_calls.c: a thread's last calls. They are kept until all are known: of a deep recursion that
 * is open only the innermost calls are shown.
 */
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/report/parts.h"
#include "decoder/stream/stream.h"

#define OPEN_MAX 12

struct collection {
	struct ep_report_last *last;
	const struct ep_event *until; /* the first call that is another's; NULL */
	bool past;                    /* it */
	uint64_t after;               /* calls from it on */
	size_t open;
};

/* What a handler of the program's called after the fault is another's. */
static bool is_past(struct collection *to, const struct ep_event *event)
{
	to->past |= to->until && event->kind == EP_EVENT_BEGIN && event->call >= to->until->call;
	return to->past;
}

/* A sink. */
static int count_past(void *context, const struct ep_event *event,
		      const struct ep_nest_thread *none)
{
	struct collection *to = context;

	(void)none;
	to->after +=
		is_past(to, event) &&
		(event->kind == EP_EVENT_BEGIN ||
		 (event->kind == EP_EVENT_END && event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY)));
	return EP_OK;
}

/* How many calls the handler made: in the tail, else in all of the history. */
static void count_after(struct collection *to, const struct ep_evidence *evidence,
			const struct ep_open_calls *open)
{
	const struct ep_tail *tail = &open->tail;
	const struct ep_selection selection = {.only = open->thread};
	const struct ep_sink sink = {.context = to, .event = count_past};
	uint64_t shown;

	for (size_t i = tail->callers; tail->usable && i < tail->events.count; i++)
		count_past(to, &tail->events.list[i], NULL);
	if (!to->past)
		ep_stream(evidence->trace, evidence->names, &selection, &sink, &shown);
	to->past = false;
}

/* A sink. Calls that did not return have said so where they began. */
static int keep_last(void *context, const struct ep_event *event, const struct ep_nest_thread *none)
{
	struct collection *to = context;
	struct ep_event *kept;

	(void)none;
	if (event->kind >= EP_EVENT_OPEN || is_past(to, event))
		return EP_OK;
	kept = ep_array_add(to->last);
	*kept = *event;
	/* An event's text is borrowed. */
	kept->text = event->text ? ep_strdup(event->text) : NULL;
	to->open += (event->flags & EP_CALL_OPEN) != 0;
	return EP_OK;
}

void ep_report_last_deinit(struct ep_report_last *last)
{
	for (size_t i = 0; i < last->count; i++)
		free((char *)last->list[i].text);
	ep_array_deinit(last);
	last->left = 0;
}

/* Leaves the outer open calls out. */
static void thin_out(struct ep_report_last *last, size_t open)
{
	size_t left = open > OPEN_MAX ? open - OPEN_MAX : 0;
	size_t out = 0, kept = 0;

	for (size_t i = 0; i < last->count; i++) {
		/* A call that is open has no text. */
		if (last->list[i].flags & EP_CALL_OPEN && out < left)
			out++;
		else
			last->list[kept++] = last->list[i];
	}
	last->count = kept;
	last->left = left;
}

void ep_report_last_init(struct ep_report_last *last, const struct ep_evidence *evidence,
			 const struct ep_open_calls *open, uint64_t calls,
			 const struct ep_event *until)
{
	struct collection to = {.last = last, .until = until};
	struct ep_selection selection = {.only = open->thread, .last_calls = calls};
	const struct ep_sink sink = {.context = &to, .event = keep_last};
	uint64_t shown = 0;

	*last = (struct ep_report_last){0};
	if (!open->known || !calls)
		return;
	if (until)
		count_after(&to, evidence, open);
	selection.last_calls += to.after;
	if (ep_tail_holds(&open->tail, selection.last_calls))
		ep_stream_tail(evidence->trace, &selection, &open->tail, &sink, &shown);
	else
		ep_stream(evidence->trace, evidence->names, &selection, &sink, &shown);
	if (!shown)
		ep_report_last_deinit(last);
	else
		thin_out(last, to.open);
}

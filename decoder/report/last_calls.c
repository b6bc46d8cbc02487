/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * last_calls.c: a thread's last calls as a tree. They are kept until all are known: of a deep
 * recursion in flight only the innermost calls are shown, and the outermost that is left stands at
 * the margin.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/export/replay.h"
#include "decoder/report/model.h"

#define OPEN_MAX 12

/* What a handler of the program's called after the fault is another's. */
static bool is_past(struct ep_report_last *last, const struct ep_event *event)
{
	last->past |=
		last->until && event->kind == EP_EVENT_BEGIN && event->call >= last->until->call;
	return last->past;
}

static int count_past(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct ep_report_last *last = context;

	(void)err;
	last->after +=
		is_past(last, event) &&
		(event->kind == EP_EVENT_BEGIN ||
		 (event->kind == EP_EVENT_END && event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY)));
	return EP_OK;
}

/* How many calls the handler made: in the tail, else in all of the history. */
static int count_after(struct ep_report_last *last, struct ep_report *report,
		       const struct ep_open_calls *flight, struct ep_err *err)
{
	const struct ep_tail *tail = &flight->tail;
	const struct ep_selection selection = {.only = flight->thread};
	const struct ep_sink sink = {.context = last, .event = count_past};
	uint64_t shown;
	int rc = EP_OK;

	for (size_t i = tail->callers; tail->usable && i < tail->count; i++)
		count_past(last, &tail->events[i], err);
	if (!last->past)
		rc = ep_stream(report->trace, report->names, &selection, &sink, &shown, err);
	last->past = false;
	return rc;
}

static int keep(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct ep_report_last *last = context;
	size_t room = last->room ? 2 * last->room : 64;
	struct ep_event *grown, *kept;

	if (is_past(last, event))
		return EP_OK;
	if (last->count == last->room) {
		grown = realloc(last->events, room * sizeof(*grown));
		if (!grown)
			return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
		last->events = grown;
		last->room = room;
	}
	kept = &last->events[last->count];
	*kept = *event;
	/* An event's text is borrowed. */
	kept->text = event->text ? strdup(event->text) : NULL;
	if (event->text && !kept->text)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	last->count++;
	last->open += (event->flags & EP_CALL_OPEN) != 0;
	return EP_OK;
}

void ep_report_last_deinit(struct ep_report_last *last)
{
	for (size_t i = 0; i < last->count; i++)
		free((char *)last->events[i].text);
	free(last->events);
	*last = (struct ep_report_last){0};
}

/* Leaves the outer calls in flight out. */
static void thin_out(struct ep_report_last *last)
{
	size_t left = last->open > OPEN_MAX ? last->open - OPEN_MAX : 0;
	size_t out = 0, kept = 0;

	for (size_t i = 0; i < last->count; i++) {
		/* A call that is open has no text. */
		if (last->events[i].flags & EP_CALL_OPEN && out < left)
			out++;
		else
			last->events[kept++] = last->events[i];
	}
	last->count = kept;
	last->left = left;
}

static uint32_t least_depth(const struct ep_report_last *last)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < last->count; i++)
		if (last->events[i].kind != EP_EVENT_GAP && last->events[i].depth < least)
			least = last->events[i].depth;
	return least == UINT32_MAX ? 0 : least;
}

int ep_report_last_print(struct ep_report *report, const struct ep_report_last *last,
			 struct ep_err *err)
{
	struct ep_outbuf *out;
	struct ep_replay replay;

	if (!last->count)
		return EP_OK;
	out = malloc(sizeof(*out));
	if (!out)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	fprintf(report->out, "  last calls (seconds before the end%s, duration, call)\n",
		report->trace->end.tsc > report->trace->last_tsc ? "" : " of the trace");
	if (last->left)
		fprintf(report->out, "       … %zu outer open calls are left out …\n", last->left);
	ep_outbuf_init(out, report->out);
	ep_replay_init(&replay, out, report->trace, &report->style);
	replay.outdent = least_depth(last);
	for (size_t i = 0; i < last->count; i++) {
		ep_replay_event(&replay, &last->events[i], NULL);
		report->ghosts |= ep_replay_approximate(&last->events[i]);
	}
	ep_replay_end(&replay);
	ep_outbuf_finish(out);
	free(out);
	return EP_OK;
}

int ep_report_last_init(struct ep_report_last *last, struct ep_report *report,
			const struct ep_open_calls *flight, uint64_t calls,
			const struct ep_event *until, struct ep_err *err)
{
	struct ep_selection selection = {.only = flight->thread, .last_calls = calls};
	const struct ep_sink sink = {.context = last, .event = keep, .foresee = true};
	uint64_t shown = 0;
	int rc = EP_OK;

	*last = (struct ep_report_last){.until = until};
	if (!flight->known || !calls)
		return EP_OK;
	if (until)
		rc = count_after(last, report, flight, err);
	if (rc)
		return rc;
	selection.last_calls += last->after;
	rc = ep_tail_holds(&flight->tail, selection.last_calls)
		     ? ep_stream_tail(report->trace, report->names, &selection, &flight->tail,
				      &sink, &shown, err)
		     : ep_stream(report->trace, report->names, &selection, &sink, &shown, err);
	if (rc || !shown)
		ep_report_last_deinit(last);
	else
		thin_out(last);
	return rc;
}

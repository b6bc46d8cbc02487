/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_last.c: a thread's last calls as a tree. They are kept until all are
 * known: of a deep recursion in flight only the innermost calls are shown, and
 * the outermost that is left stands at the margin.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/replay.h"
#include "decoder/report_impl.h"

#define OPEN_MAX 12

struct last {
	struct ep_event *events;
	size_t count, room;
	size_t open; /* calls in flight among them */
};

static int keep(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct last *last = context;
	size_t room = last->room ? 2 * last->room : 64;
	struct ep_event *grown, *kept;

	if (last->count == last->room) {
		grown = realloc(last->events, room * sizeof(*grown));
		if (!grown)
			return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
		last->events = grown;
		last->room = room;
	}
	kept = &last->events[last->count];
	*kept = *event;
	/* A point's text is borrowed. */
	kept->text = event->kind == EP_EVENT_POINT ? strdup(event->text) : NULL;
	if (event->kind == EP_EVENT_POINT && !kept->text)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	last->count++;
	last->open += (event->flags & EP_CALL_OPEN) != 0;
	return EP_OK;
}

static void last_deinit(struct last *last)
{
	for (size_t i = 0; i < last->count; i++)
		free((char *)last->events[i].text);
	free(last->events);
}

/* Leaves the outer calls in flight out; returns how many. */
static size_t thin_out(struct last *last)
{
	size_t left = last->open > OPEN_MAX ? last->open - OPEN_MAX : 0;
	size_t out = 0, kept = 0;

	for (size_t i = 0; i < last->count; i++) {
		if (last->events[i].flags & EP_CALL_OPEN && out < left)
			out++;
		else
			last->events[kept++] = last->events[i];
	}
	last->count = kept;
	return left;
}

static uint32_t least_depth(const struct last *last)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < last->count; i++)
		if (last->events[i].kind != EP_EVENT_GAP &&
		    last->events[i].depth < least)
			least = last->events[i].depth;
	return least == UINT32_MAX ? 0 : least;
}

static void print(struct ep_report *report, struct last *last,
		  struct ep_outbuf *out)
{
	size_t left = thin_out(last);
	struct ep_replay replay;

	fprintf(report->out, "  last calls (seconds before the end of the "
			     "trace, duration, call)\n");
	if (left)
		fprintf(report->out,
			"       … %zu outer calls in flight are left out …\n",
			left);
	ep_outbuf_init(out, report->out);
	ep_replay_init(&replay, out, report->trace, &report->style);
	replay.outdent = least_depth(last);
	for (size_t i = 0; i < last->count; i++) {
		ep_replay_event(&replay, &last->events[i], NULL);
		report->ghosts |= ep_replay_approximate(&last->events[i]);
	}
	ep_replay_end(&replay);
	ep_outbuf_finish(out);
}

int ep_report_last(struct ep_report *report,
		   const struct ep_trace_thread *thread, uint64_t calls,
		   struct ep_err *err)
{
	char serial[16];
	struct ep_selection selection = {.thread = serial, .last_calls = calls};
	struct last last = {0};
	const struct ep_sink sink = {
		.context = &last, .event = keep, .foresee = true};
	struct ep_outbuf *out;
	uint64_t shown = 0;
	int rc;

	if (!report->trace || !thread || !thread->block_count || !calls)
		return EP_OK;
	snprintf(serial, sizeof(serial), "#%u", thread->serial);
	out = malloc(sizeof(*out));
	rc = out ? ep_stream(report->trace, report->names, &selection, &sink,
			     &shown, err)
		 : ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	if (!rc && shown)
		print(report, &last, out);
	last_deinit(&last);
	free(out);
	return rc;
}

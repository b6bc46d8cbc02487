/* SPDX-License-Identifier: BSD-2-Clause */
/* open_spans.c: a short list, searched from its end. */
#include "decoder/calls/open_spans.h"

#include "coredump/util/alloc.h"

void ep_open_spans_begin(struct ep_open_spans *spans, struct ep_event *event)
{
	event->call = spans->number++;
	if (spans->open.count == EP_OPEN_SPANS_MAX)
		return;
	ep_array_push(&spans->open, *event);
	spans->open.list[spans->open.count - 1].text = ep_strdup(event->text);
}

void ep_open_spans_end(struct ep_open_spans *spans, struct ep_event *event)
{
	struct ep_event *list = spans->open.list, *one;
	size_t at = spans->open.count;

	while (at > 0 && strcmp(list[at - 1].text, event->text) != 0)
		at--;
	if (at == 0) {
		event->call = spans->number++;
		event->flags |= EP_CALL_BEFORE;
		return;
	}
	one = &list[at - 1];
	event->call = one->call;
	event->since = one->begin;
	event->flags |= one->flags;
	free((char *)one->text);
	memmove(one, one + 1, (spans->open.count - at) * sizeof(*one));
	spans->open.count--;
}

void ep_open_spans_gap(struct ep_open_spans *spans)
{
	for (size_t i = 0; i < spans->open.count; i++)
		spans->open.list[i].flags |= EP_CALL_ACROSS_GAP;
}

void ep_open_spans_deinit(struct ep_open_spans *spans)
{
	for (size_t i = 0; i < spans->open.count; i++)
		free((char *)spans->open.list[i].text);
	ep_array_deinit(&spans->open);
}

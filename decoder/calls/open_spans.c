/* SPDX-License-Identifier: BSD-2-Clause */
/* open_spans.c: a short list, searched from its end. */
#include "decoder/calls/open_spans.h"

#include <stdlib.h>
#include <string.h>

int ep_open_spans_begin(struct ep_open_spans *spans, struct ep_event *event)
{
	struct ep_event *grown;
	char *text;

	event->call = spans->number++;
	if (spans->count == EP_OPEN_SPANS_MAX)
		return EP_OK;
	/* A power of two: it is full. */
	if ((spans->count & (spans->count - 1)) == 0) {
		grown = realloc(spans->list,
				(spans->count ? 2 * spans->count : 1) * sizeof(*grown));
		if (!grown)
			return EP_E_MEMORY;
		spans->list = grown;
	}
	text = strdup(event->text);
	if (!text)
		return EP_E_MEMORY;
	spans->list[spans->count] = *event;
	spans->list[spans->count++].text = text;
	return EP_OK;
}

void ep_open_spans_end(struct ep_open_spans *spans, struct ep_event *event)
{
	struct ep_event *one;
	size_t at = spans->count;

	while (at > 0 && strcmp(spans->list[at - 1].text, event->text) != 0)
		at--;
	if (at == 0) {
		event->call = spans->number++;
		event->flags |= EP_CALL_BEFORE;
		return;
	}
	one = &spans->list[at - 1];
	event->call = one->call;
	event->since = one->begin;
	event->flags |= one->flags;
	free((char *)one->text);
	memmove(one, one + 1, (spans->count - at) * sizeof(*one));
	spans->count--;
}

void ep_open_spans_gap(struct ep_open_spans *spans)
{
	for (size_t i = 0; i < spans->count; i++)
		spans->list[i].flags |= EP_CALL_ACROSS_GAP;
}

void ep_open_spans_deinit(struct ep_open_spans *spans)
{
	for (size_t i = 0; i < spans->count; i++)
		free((char *)spans->list[i].text);
	free(spans->list);
	*spans = (struct ep_open_spans){0};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open_spans.h: the spans of one thread that have begun and not ended: by name, an end belongs to
 * the one that began last.
 */
#ifndef EPITAPH_OPEN_SPANS_H
#define EPITAPH_OPEN_SPANS_H

#include "coredump/util/array.h"
#include "decoder/calls/event.h"

#define EP_OPEN_SPANS_MAX 1024u /* more are not kept open */

struct ep_open_spans {
	EP_ARRAY(struct ep_event) open; /* SPAN_BEGIN; their texts are the list's own */
	uint64_t number;                /* of the next */
};

/* A SPAN_BEGIN: gives it its number and keeps a copy. */
void ep_open_spans_begin(struct ep_open_spans *spans, struct ep_event *event);

/* A SPAN_END: fills in what is known of its begin, which is open no more. */
void ep_open_spans_end(struct ep_open_spans *spans, struct ep_event *event);

/* History is missing here. */
void ep_open_spans_gap(struct ep_open_spans *spans);

void ep_open_spans_deinit(struct ep_open_spans *spans);

#endif

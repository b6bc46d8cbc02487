/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.h: trace → calls → those that the user asked for → a sink. Each thread is read once, into
 * a table (call_table.h); all tables are there at once but for a sink that takes `any_order`.
 */
#ifndef EPITAPH_STREAM_H
#define EPITAPH_STREAM_H

#include "decoder/calls/sink.h"
#include "decoder/calls/tail.h"
#include "decoder/stream/selection.h"

/* EP_OK and the number of calls that were shown (gaps are not counted), or what the sink returned,
 * at once; EP_END: who watches its progress wants no more. NULL selection: all. */
int ep_stream(const struct ep_trace *trace, struct ep_names *names,
	      const struct ep_selection *selection, const struct ep_sink *sink, uint64_t *shown);

/* The same of a thread's tail, which holds as many calls as are asked for (selection->last_calls):
 * without what is open at the end, and not nested. */
int ep_stream_tail(const struct ep_trace *trace, const struct ep_selection *selection,
		   const struct ep_tail *tail, const struct ep_sink *sink, uint64_t *shown);

#endif

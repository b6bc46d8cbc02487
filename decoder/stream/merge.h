/* SPDX-License-Identifier: BSD-2-Clause */
/* merge.h: the events of several threads in one order: by time, ties by serial. */
#ifndef EPITAPH_MERGE_H
#define EPITAPH_MERGE_H

#include "decoder/calls/calls.h"

struct ep_merge;

/* Of all threads, or those that `want` names; `waits`: with WAIT events. */
struct ep_merge *ep_merge_create(const struct ep_trace *trace, struct ep_names *names, bool waits,
				 bool (*want)(const struct ep_trace_thread *, void *),
				 void *context);
void ep_merge_destroy(struct ep_merge *merge);

/* Blocks of all of them that are not yet being read. */
uint64_t ep_merge_blocks_left(const struct ep_merge *merge);

/* As ep_calls_next. */
int ep_merge_next(struct ep_merge *merge, const struct ep_event **out);

/* The calls of one thread of the merge, for ep_calls_open after EP_END; NULL: it is not among
 * them. */
const struct ep_calls *ep_merge_calls(const struct ep_merge *merge,
				      const struct ep_trace_thread *thread);

#endif

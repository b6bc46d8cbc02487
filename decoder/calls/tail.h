/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tail.h: the last events of one thread, put by while all of its calls are read, for those who show
 * no more than the last few: they need not read it again. What is open where the tail begins stands
 * before it, as BEGINs.
 */
#ifndef EPITAPH_TAIL_H
#define EPITAPH_TAIL_H

#include "coredump/util/array.h"
#include "decoder/calls/calls.h"

#define EP_TAIL_BLOCKS 3u /* of records: about 1,500 */

struct ep_tail {
	const struct ep_calls *calls;     /* borrowed while they are read */
	EP_ARRAY(struct ep_event) events; /* texts are the tail's own */
	size_t callers;                   /* of these, first: calls from before the tail */
	size_t begun; /* calls that begin behind them, or are known by their return only */
	bool whole;   /* nothing came before it */
	bool usable;  /* false: the thread ran on several stacks */
};

void ep_tail_init(struct ep_tail *tail, const struct ep_calls *calls);
void ep_tail_deinit(struct ep_tail *tail);

/* A sink's `event`, of all of the thread's; the context is the tail. Kept are those of the last
 * EP_TAIL_BLOCKS blocks. */
int ep_tail_event(void *context, const struct ep_event *event, const struct ep_nest_thread *thread);

/* After the last one; `too_deep` is subtracted from all depths. */
void ep_tail_finish(struct ep_tail *tail, uint32_t too_deep);

/* The last `calls` calls are all in it. */
bool ep_tail_holds(const struct ep_tail *tail, uint64_t calls);

#endif

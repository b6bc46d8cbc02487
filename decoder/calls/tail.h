/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tail.h: the last events of one thread, put by while all of its calls are read, for those who show
 * no more than the last few: they need not read it again. What is open where the tail begins stands
 * before it, as BEGINs.
 */
#ifndef EPITAPH_TAIL_H
#define EPITAPH_TAIL_H

#include "decoder/calls/calls.h"

#define EP_TAIL_BLOCKS 3u /* of records: about 1,500 */

struct ep_tail {
	struct ep_event *events; /* texts are the tail's own */
	size_t count, room;
	size_t callers; /* of these, first: calls from before the tail */
	size_t calls;   /* those that begin behind them, or are known by their
			   return only */
	bool whole;     /* nothing came before it */
	bool usable;    /* false: the thread ran on several stacks */
};

void ep_tail_init(struct ep_tail *tail);
void ep_tail_deinit(struct ep_tail *tail);

/* Each event of the thread, in order; all of the last EP_TAIL_BLOCKS blocks. EP_OK or
 * EP_E_MEMORY. */
int ep_tail_take(struct ep_tail *tail, const struct ep_calls *calls, const struct ep_event *event);

/* After the last one; `too_deep` is taken from all depths. EP_OK or EP_E_MEMORY. */
int ep_tail_finish(struct ep_tail *tail, const struct ep_calls *calls, uint32_t too_deep);

/* The last `calls` calls are all in it. */
bool ep_tail_holds(const struct ep_tail *tail, uint64_t calls);

#endif

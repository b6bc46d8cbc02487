/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * asked.h: waits of a thread that the kernel asked for the time behind each of them (format.h,
 * EP_THREAD_ASKED). A wait lies right before a record that was asked for, so what was recorded
 * before it went on at its own pace, and came before the wait began.
 */
#ifndef EPITAPH_ASKED_H
#define EPITAPH_ASKED_H

#include "decoder/trace/records.h"

/* The records between two known times. */
struct ep_asked_window {
	unsigned first, end; /* [first, end) of the block's */
	uint64_t low, high;  /* TSC: those times */
	bool asked;          /* the kernel asked for the second */
};

/* Of one block. */
struct ep_asked {
	bool on; /* its thread is asked, and the block has no text over it */
	unsigned count;
	struct ep_asked_window windows[EP_BLOCK_RECORDS / 2 + 1];
};

void ep_asked_begin(struct ep_asked *asked, const struct ep_trace_thread *thread,
		    const struct ep_trace_block *block);

/* The kernel asked for the time of the event in word `at`, before which so many escapes of time
 * stand. */
bool ep_asked_word(const struct ep_asked *asked, const struct ep_trace_block *block, uint32_t at,
		   unsigned escapes);

/* Records that lie in even steps between two times. */
void ep_asked_add(struct ep_asked *asked, struct ep_asked_window window);

/* Moves those before a time that was asked for to where the thread's pace puts them: that of the
 * last window whose end was due, else of the block's next. Nothing goes backwards. */
void ep_asked_settle(const struct ep_asked *asked, struct ep_records *records);

#endif

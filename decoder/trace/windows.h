/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * windows.h: where records lie between two known times. At first they are spread evenly. Two things
 * say more, and neither needs a time of the record's own:
 * - The kernel asked for the second time (format.h, EP_THREAD_ASKED): the thread was away right
 * before it, so what was recorded before went on at its own pace.
 * - The runtime's thread looked (struct ep_look_taken): so many records were made before, and the
 * rest after. What came before went on at the thread's pace from the first time on, and what came
 * after up to the second: the call in which the thread was seen took what is left.
 */
#ifndef EPITAPH_WINDOWS_H
#define EPITAPH_WINDOWS_H

#include "decoder/trace/records.h"

struct ep_window {
	unsigned first, end; /* records [first, end) of the block's */
	uint64_t low, high;  /* TSC: those times */
	enum {
		EP_WINDOW_DUE,   /* to a record that has a time for its place */
		EP_WINDOW_ASKED, /* to one whose time the kernel asked for */
		EP_WINDOW_AWAY,  /* to where an absence began, which scheduling events tell */
		EP_WINDOW_OPEN,  /* to a time that nobody knows: EP_TIME_UNKNOWN */
	} to;
};

/* Of one block. */
struct ep_windows {
	bool asked; /* its thread is, and the block has no text over it */
	unsigned count;
	struct ep_window windows[EP_BLOCK_RECORDS / 2 + 1];
	const struct ep_trace_look *looks; /* of the block, ascending */
	size_t look_count, reached;
	uint16_t positions[EP_BLOCK_RECORDS + 1]; /* of those that were reached: how many of the
						     block's records came before */
};

void ep_windows_begin(struct ep_windows *windows, const struct ep_trace *trace,
		      const struct ep_trace_thread *thread, const struct ep_trace_block *block);

/* `count` records were decoded before the block's word `at`. */
static inline void ep_windows_reach(struct ep_windows *windows, uint32_t at, unsigned count)
{
	while (windows->reached < windows->look_count &&
	       windows->looks[windows->reached].records <= at)
		windows->positions[windows->reached++] = (uint16_t)count;
}

/* The kernel asked for the time of the event in word `at`, before which so many escapes of time
 * stand. */
bool ep_windows_asked(const struct ep_windows *windows, const struct ep_trace_block *block,
		      uint32_t at, unsigned escapes);

void ep_windows_add(struct ep_windows *windows, struct ep_window window);

/* Moves the block's records to where they belong, and narrows their bounds. Nothing goes backwards.
 */
void ep_windows_settle(struct ep_windows *windows, struct ep_records *records);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * untimed.h: where records lie between two known times. At first they are spread as such records
 * usually follow each other (transitions.h); two things say more.
 *
 * Where the kernel asked for the second time (format.h, EP_THREAD_ASKED) the thread was away right
 * before it: what was recorded before went on at its own pace.
 *
 * Where the runtime's thread looked (struct ep_look_taken) so many records were made before, and
 * the rest after. What came before went on at the thread's pace from the first time on, and what
 * came after up to the second: the call in which the thread was seen took what is left.
 */
#ifndef EPITAPH_UNTIMED_H
#define EPITAPH_UNTIMED_H

#include "decoder/trace/record.h"
#include "decoder/trace/trace.h"

/* So long took records of a thread, lately, that usually take so long (transitions.h), where
 * nothing else is known of them; usual 0: not known. */
struct ep_pace {
	uint64_t cycles, usual;
};

enum ep_run_to {
	EP_RUN_DUE,   /* to a record that has a time for its place */
	EP_RUN_ASKED, /* to one whose time the kernel asked for */
	EP_RUN_AWAY,  /* to where an absence began, which scheduling events tell */
	EP_RUN_OPEN,  /* to a time that nobody knows: EP_TIME_UNKNOWN */
};

struct ep_untimed_run {
	unsigned first, end; /* records [first, end) of the block's */
	uint64_t low, high;  /* TSC: those times */
	enum ep_run_to to;
};

/* Of one block. */
struct ep_untimed {
	bool asked; /* its thread is, and the block has no text over it */
	unsigned count;
	struct ep_untimed_run runs[EP_BLOCK_RECORDS / 2 + 1];
	const struct ep_absences *absences; /* the thread's */
	const struct ep_transitions *transitions;
	const struct ep_trace_look *looks; /* of the block, ascending */
	size_t look_count, reached;
	uint16_t positions[EP_BLOCK_RECORDS + 1]; /* of those that were reached: how many of the
						     block's records came before */
};

void ep_untimed_begin(struct ep_untimed *untimed, const struct ep_trace *trace,
		      const struct ep_trace_thread *thread, const struct ep_trace_block *block);

/* `count` records were decoded before the block's word `at`. */
static inline void ep_untimed_reach(struct ep_untimed *untimed, uint32_t at, unsigned count)
{
	while (untimed->reached < untimed->look_count &&
	       untimed->looks[untimed->reached].records <= at)
		untimed->positions[untimed->reached++] = (uint16_t)count;
}

/* The kernel asked for the time of the event in word `at`, before which so many escapes of time
 * stand. */
bool ep_untimed_asked(const struct ep_untimed *untimed, const struct ep_trace_block *block,
		      uint32_t at, unsigned escapes);

void ep_untimed_add(struct ep_untimed *untimed, struct ep_untimed_run run);

/* Moves the block's records to where they belong, and narrows their bounds. Nothing goes backwards.
 * costs: from the block's beginning up to each, and to what follows the last. */
void ep_untimed_settle(struct ep_untimed *untimed, struct ep_record *records, const uint32_t *costs,
		       unsigned count, struct ep_pace *pace);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_copy.h: the section of scheduling events as a snapshot has it: only the segments of its
 * pool that are in use, the oldest first. The drain goes on meanwhile: a chunk counts when its
 * check word holds for what was copied.
 */
#ifndef EPITAPH_SCHED_COPY_H
#define EPITAPH_SCHED_COPY_H

#include <stdbool.h>
#include <stdint.h>

struct ep_sched_copy {
	uint64_t segments; /* that are in use, and wanted */
	uint64_t spare;    /* empty ones behind them */
	uint64_t formats;  /* bytes of formats */
	uint64_t size;     /* bytes of it all; 0: there is no such section */
};

/*
 * What there is to be copied; without the segments that were full before `since` (TSC; 0: all).
 * `spare` empty segments more, at most, are for what a reader finds in the kernel's buffers of a
 * dead process (coredump/find/leftover.h).
 */
void ep_sched_copy_plan(struct ep_sched_copy *copy, uint64_t since, uint64_t spare);

/* To `copy->size` bytes; `ended`: nothing is to be added to it. Signal safe. */
void ep_sched_copy_fill(const struct ep_sched_copy *copy, void *to, bool ended);

#endif

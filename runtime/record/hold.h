/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold.h: while rings are copied, threads wait where they would enter a block and so overwrite one.
 * Nobody waits for a thread: one that sleeps, is paused or dead is not asked. A hold ends by itself
 * (EP_HOLD_CYCLES), whatever becomes of who set it: in this process, or another
 * (coredump/live/live_read.h).
 */
#ifndef EPITAPH_HOLD_H
#define EPITAPH_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/arena/arena.h"

bool ep_hold_wait_slow(void);

/* At a block's start: true if it had to wait, so that time has passed. Signal safe, keeps errno; a
 * handler that comes meanwhile waits likewise. */
static inline bool ep_hold_wait(void)
{
	return __builtin_expect(__atomic_load_n(&ep_arena->hold, __ATOMIC_ACQUIRE) != 0, 0) &&
	       ep_hold_wait_slow();
}

/* By who copies; between begin and end no signal comes that can wait. */
struct ep_hold {
	uint64_t until; /* ours */
	uint64_t mask;  /* signals blocked before */
};

void ep_hold_begin(struct ep_hold *hold);
void ep_hold_renew(struct ep_hold *hold); /* once a MiB, or sooner */
void ep_hold_end(struct ep_hold *hold);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* spender.h: what a thread's events have cost since it last looked at its CPU time (budget.c). */
#ifndef EPITAPH_SPENDER_H
#define EPITAPH_SPENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/tls.h"

struct ep_spender {
	uint32_t serial; /* the thread's: places in the table are given again */
	uint16_t generation;
	bool looked;
	uint64_t records; /* since its last look */
	uint64_t clock;   /* TSC cycles of reading the clock since then */
	uint64_t marks;   /* … of marks */
	uint64_t spared;  /* … that marks would have cost which were left out */
	uint64_t cpu;     /* ns of its CPU time at its last look */
};

/* The calling thread's, which alone writes to it; all 0 when it is new. NULL: there is no room for
 * it. Signal safe. */
struct ep_spender *ep_spender_of(const struct ep_tls *tls);

#endif

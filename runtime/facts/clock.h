/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h: anchors of the TSC against MONOTONIC_RAW and REALTIME. No sleeping: the rate comes from
 * the kernel's own figures or two anchors far enough apart, and gets better while the program runs.
 */
#ifndef EPITAPH_CLOCK_H
#define EPITAPH_CLOCK_H

#include <stdint.h>

/* Takes the first anchors and calibrates a TSC read's cost. After the arena. */
void ep_clock_start(void);

/* In a forked child that has its parent's section: goes on with it, as the clocks are the same.
 * Begins anew where a thread was taking an anchor. */
void ep_clock_inherit(void);

/*
 * Takes another anchor when the last is old enough (cheap otherwise: one comparison). Called by the
 * slow path at block boundaries, at dlopen, before a snapshot. Async-signal-safe; a caller that
 * finds another in it goes on.
 */
void ep_clock_refresh(uint64_t tsc);

/* TSC cycles for `ns` nanoseconds by the best estimate; saturates. */
uint64_t ep_clock_cycles(uint64_t ns);

#endif

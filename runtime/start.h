/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * start.h: the order in which the runtime comes to life: settings, arena, clock, process facts,
 * load map, signal, fork handler. The first hook of the process may come before any constructor, so
 * everybody who needs the runtime calls ep_start, and it happens once.
 */
#ifndef EPITAPH_START_H
#define EPITAPH_START_H

#include <stdbool.h>

/*
 * Idempotent and cheap when done (two loads). False: tracing is off for good, or a thread met
 * another one starting (or itself, in a signal handler): that gets false for this once and tries
 * again at its next event. In a forked child that shares no memory with its parent the first call
 * starts the next generation: it forgets the caller's ring, empties the arena and fills process
 * facts, clock and load map anew.
 */
bool ep_start(void);

/* Notes process facts, clock and load map anew that a rescue lost (rescue.h). Signal safe. */
void ep_start_refill(void);

#endif

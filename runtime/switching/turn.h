/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turn.h: one thread at a time changes what is on: code, the table of sites, the section of
 * switches. Who has the turn gets no signals: a handler that leaves by longjmp, or a cancellation,
 * would keep it for ever. Signal safe; keeps errno.
 */
#ifndef EPITAPH_TURN_H
#define EPITAPH_TURN_H

#include <stdbool.h>

/* False: another thread has it. */
bool ep_turn_try(void);

/* Waits for it. Not in signal handlers, nor in the slow path of a hook. */
void ep_turn_take(void);

void ep_turn_end(void);

/* What ep_turn_try would find, but for what happens meanwhile. */
bool ep_turn_is_taken(void);

/* In a forked child, and at the start: nobody has it. True: somebody had, who isn't here to go
 * on. */
bool ep_turn_reset(void);

#endif

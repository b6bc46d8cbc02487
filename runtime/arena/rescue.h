/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rescue.h: the arena's file was cut off by somebody, or its file system cannot keep what it
 * promised: an access raises SIGBUS. Private memory takes its place, with all that can still be
 * read, and the thread goes on.
 */
#ifndef EPITAPH_RESCUE_H
#define EPITAPH_RESCUE_H

#include <stdbool.h>
#include <stdint.h>

/* Keeps what it takes to make a first page anew, which is constant from now on. When the arena has
 * been made. */
void ep_rescue_prepare(void);

/* The same of the scheduling events' section: its head as it is now, so that a drain can end that
 * has lost it. */
struct ep_sched;
void ep_rescue_keep_sched(const struct ep_sched *head);

/* In a forked child: no thread is in the middle of a rescue or a growth. */
void ep_rescue_reset(void);

/* The arena is open up to here: bytes from its start. */
void ep_rescue_grown(uint64_t committed);

/* Around a growth of the arena, which a rescue waits for and keeps out. Pairs, also in a signal
 * handler that interrupts one. */
void ep_rescue_hold(void);
/* A rescue keeps growths waiting: another thread's, or one of the caller's that a signal handler
 * has interrupted, which has no end while that waits. */
bool ep_rescue_runs(void);
void ep_rescue_release(void);

/* Keeps growths out, and rescues. False: one does not end, as it is one of the caller's that a
 * signal handler has interrupted. */
bool ep_rescue_keep_out(void);
void ep_rescue_let_in(void);

/*
 * False: `address` is not in an arena that lies, or lay, in a file. True: try the access again.
 * Signal safe; threads that fault at once wait for the first.
 */
bool ep_rescue(uint64_t address);

/* Parts of the arena may be empty: there was a rescue, or may be one. */
bool ep_rescue_happened(void);

/* True once after a rescue that lost process facts, clock or load map: the caller notes them
 * again. */
bool ep_rescue_lost_facts(void);

#endif

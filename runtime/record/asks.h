/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * asks.h: the kernel asks for the clock. A thread's rseq_cs (rseq(2), in the area that glibc
 * registers for each thread that it makes) is set to NULL whenever the thread returns to its code
 * after it was switched out, or gets a signal. The hooks test the cursor against the lowest byte of
 * that word instead of the timing mask: NULL times the next record, so that a wait lies between two
 * neighbouring records. That one is followed by another timed one, by which a reader knows it from
 * one that was due; then the word is armed again.
 *
 * NULL: the thread was away, and the next record is timed. ep_asks_masks + HOOK_NEXT: the next
 * record is timed, too. ep_asks_masks + a byte: armed, at the lowest byte of the timing mask.
 * Anything else is a pointer of the program's own, which is left alone. Its lowest byte may be any:
 * so up to 31 records go untimed that the mask would time, or a pause would not let through. No
 * more: the boundary of a block has all bits of a byte.
 *
 * On for kernels older than 6.19: later ones leave the word alone behind system calls (Linux commit
 * e1a607ccd2a4). Off also without glibc's area (before 2.35, or by its tunable
 * glibc.pthread.rseq=0), with EPITAPH_MIN_DURATION, while counting, and where code cannot be
 * changed.
 *
 * What it takes for granted: that thread-local memory behind fs reaches as far as glibc's area (a
 * thread by clone(2) with a block of its own that ends before, with no memory behind it, faults in
 * its first hook); that nobody registers the area again with another signature; and that a program
 * that has pointers of its own there leaves it to the kernel to clear them. One that does it by
 * itself seems to have been away then.
 */
#ifndef EPITAPH_ASKS_H
#define EPITAPH_ASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/tls.h"

/* Bytes from the thread pointer to its rseq_cs; 0: nobody asks. Never changes after the start but
 * from 0. */
extern uint64_t ep_asks_at;

/* The address of the hooks' descriptors (lib/hookcode.h). */
extern uint64_t ep_asks_masks;

/* Sends the hooks to rseq_cs, if all of that is so. Once, after libc's start and before threads. */
void ep_asks_start(void);

/* The kernel asks the calling thread: its area is registered. */
bool ep_asks_caller(void);

/* The caller was away, and has no timed record since. Signal safe. */
bool ep_asks_now(void);

/* The caller has made a timed record. Signal safe. */
void ep_asks_answer(void);

/* The word has a pointer of the program's own: there may have been waits that nobody asked for. */
bool ep_asks_foreign(void);

/* The caller's timing mask, and what is armed with it. Signal safe: whoever is interrupted here
 * gives way. */
void ep_asks_set_timing(struct ep_tls *tls, uint32_t mask);

#endif

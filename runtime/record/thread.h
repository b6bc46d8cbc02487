/* SPDX-License-Identifier: BSD-2-Clause */
/* thread.h: a thread's beginning and end, its gate and its ring. */
#ifndef EPITAPH_THREAD_H
#define EPITAPH_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/tls.h"

/*
 * The caller's first event, or the first after pauses: gives it a table entry and, when nothing
 * pauses it, a ring. Called by the hooks.
 */
void ep_thread_start(void);

/* The caller records, also if this is the first that it does. After ep_start. Signal safe. */
bool ep_thread_records(void);

/* The caller's table entry, made if need be, also without a ring. NULL: the table is full, the
 * thread is ending, or a signal handler interrupted its start. After ep_start. Signal safe. */
struct ep_thread *ep_thread_enter(void);

/* Lets tls.gate say what applies to the caller by its entry: never recorded, paused by itself, or
 * as the process. */
void ep_thread_gate(void);

/* The caller is never to record, from now on. */
void ep_thread_ignore(void);

/*
 * Makes the ring of the caller, which has an entry, one of `size` bytes (a power of two, at least
 * EP_BLOCK_SIZE) that are there at once. False, nothing changed: there is no room. Signals may
 * come, but not call this.
 */
bool ep_thread_set_ring(uint64_t size);

/* Once a block: the caller's tid, where another's may stand. */
void ep_thread_settle_slow(struct ep_thread *thread);
static inline void ep_thread_settle(void)
{
	struct ep_thread *thread = ep_tls.thread;

	if (thread && thread->flags & EP_THREAD_BORROWED)
		ep_thread_settle_slow(thread);
}

/*
 * The caller's entry went with the arena's file (rescue.h): forgets it and the ring, so that the
 * next hook begins anew.
 */
void ep_thread_lose(void);

/*
 * A forked child starts anew: forgets the caller's ring and entry, before the arena is emptied;
 * what the caller had asked for itself (pauses, to be ignored, ring, timing) holds on after
 * ep_thread_restore.
 */
void ep_thread_reset(void);
void ep_thread_restore(void);

/* A forked child recorded before it knew that it is one, and its arena is the parent's file: notes
 * there which thread's block has records of both. */
void ep_thread_shared(void);

#endif

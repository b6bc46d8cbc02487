/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread.h: the recording state of one thread. Only its owner ever writes it (a thread may be gone,
 * its memory reused); others write the arena's gate, which the owner reads in the slow path.
 */
#ifndef EPITAPH_THREAD_H
#define EPITAPH_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

/*
 * All thread-local memory of the runtime: at most 64 bytes, initial-exec, so that it also fits
 * under dlopen. All zero in a thread without events: the first hook then falls into the slow path.
 * Offsets are mirrored for assembly in x86_64/offsets.h.
 */
struct ep_tls {
	uint64_t cursor;        /* address of the next record; 0 before the first */
	uint32_t timing_mask;   /* cursor & mask == 0: timed, or slow */
	uint32_t boundary_mask; /* … and cursor & mask == 0: slow */
	union {
		uint64_t last_tsc;  /* time of the last timed record */
		uint64_t *counters; /* counting: of this thread, by number */
	};
	const uint32_t *gate;     /* 0 there: recording may go on */
	struct ep_thread *thread; /* its entry in the arena; NULL: none */
	uint64_t pauses;          /* arena.pauses when last seen recording */
	union {
		uint64_t gap_at; /* cursor at the last gap seen (timestamp_rate.c); 0
				    none */
		struct {
			uint32_t counter_limit; /* numbers below it have a
						   counter */
			uint32_t counters_busy; /* they are being changed */
		};
	};
	struct ep_shortcalls *shortcalls; /* NULL: none */
};
static_assert(sizeof(struct ep_tls) <= 64, "more does not fit under dlopen");

extern __thread struct ep_tls ep_tls __attribute__((visibility("hidden")));

/* The gate of a thread that is never to record. */
extern const uint32_t ep_shut_for_good;

#define EP_PAUSES_UNKNOWN UINT64_MAX /* tls.pauses: a pause came between */

/*
 * The caller's first event, or the first after pauses: gives it a table entry and, when nothing
 * pauses it, a ring. Called by the hooks.
 */
void ep_thread_start(void);

/* The caller's table entry, made if need be, also without a ring. NULL: the table is full, the
 * thread is ending, or a signal handler interrupted its start. After ep_start. Signal safe. */
struct ep_thread *ep_thread_enter(void);

/* Lets tls.gate say what applies to the caller by its entry: never recorded, paused by itself, or
 * as the process. */
void ep_thread_gate(void);

/*
 * Gives the caller, which has an entry, a ring of `size` bytes (a power of two, at least
 * EP_BLOCK_SIZE) in place of its present one, if any. False, nothing changed: there is no room.
 * Signals may come, but not call this.
 */
bool ep_thread_set_ring(uint64_t size);

/* The caller is about to end: its ring may be reused. */
void ep_thread_end(void);

/* Once a block: the caller's tid, where another's may stand. */
void ep_thread_settle_slow(struct ep_thread *thread);
static inline void ep_thread_settle(void)
{
	struct ep_thread *thread = ep_tls.thread;

	if (thread && thread->flags & EP_THREAD_BORROWED)
		ep_thread_settle_slow(thread);
}

/* The caller's name in the table; NULL: take the kernel's again. */
void ep_thread_rename(const char *name);

/*
 * The caller's entry went with the arena's file (rescue.h): forgets it and the ring, so that the
 * next hook begins anew.
 */
void ep_thread_lose(void);

static inline bool ep_thread_lost(const struct ep_tls *tls)
{
	return tls->thread && !*(volatile const uint32_t *)&tls->thread->serial;
}

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

/* Entries of the table, from its first, that may be in use. */
uint32_t ep_thread_count(void);

/* Counting: the counters of a thread that has ended, as its ring would be handed on; false: none is
 * free. */
bool ep_thread_inherit(uint64_t *offset, uint64_t *size);

/*
 * Rings that threads left for others, by ep_thread_set_ring: *offset and *size of number `index`,
 * from 0. False: no more. They may hold blocks of anybody.
 */
bool ep_thread_unowned_ring(unsigned index, uint64_t *offset, uint64_t *size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tls.h: the recording state of one thread. Only its owner ever writes it (a thread may be gone,
 * its memory reused); others write the arena's gate, which the owner reads in the slow path.
 */
#ifndef EPITAPH_TLS_H
#define EPITAPH_TLS_H

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
		uint64_t gap_at; /* cursor at the last gap seen (timestamp_rate.c); 0 none */
		struct {
			uint32_t counter_limit; /* numbers below it have a counter */
			uint32_t counters_busy; /* they are being changed */
		};
	};
	union {
		/* with EPITAPH_MIN_DURATION; NULL: none */
		struct ep_shortcalls *shortcalls;
		/* without: cursor and buffer of a jump's mark (budget/marks.h); 0: none */
		uint64_t quiet;
	};
};
static_assert(sizeof(struct ep_tls) <= 64, "more does not fit under dlopen");

extern __thread struct ep_tls ep_tls __attribute__((visibility("hidden")));

/* The gate of a thread that is never to record; and of one in a handler of a fault (faults.h):
 * open, so that hooks go on to their boundary, which is everywhere. */
extern const uint32_t ep_shut_for_good, ep_faults_gate;

#define EP_PAUSES_UNKNOWN UINT64_MAX /* tls.pauses: a pause came between */

static inline void ep_tls_set_gate(const uint32_t *gate)
{
	*(const uint32_t *volatile *)&ep_tls.gate = gate;
}

/* The caller's entry went with the arena's file (rescue.h). */
static inline bool ep_thread_lost(const struct ep_tls *tls)
{
	return tls->thread && !*(volatile const uint32_t *)&tls->thread->serial;
}

/* The caller's name in the table; NULL: take the kernel's again. */
void ep_thread_rename(const char *name);

#endif

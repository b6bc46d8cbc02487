/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread.h: the recording state of one thread. Only its owner ever writes it
 * (a thread may be gone, its memory reused); others write the arena's gate,
 * which the owner reads in the slow path.
 */
#ifndef EPITAPH_THREAD_H
#define EPITAPH_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

/*
 * All thread-local memory of the runtime: at most 64 bytes, initial-exec, so
 * that it also fits under dlopen. All zero in a thread without events: the
 * first hook then falls into the slow path. Offsets are mirrored for assembly
 * in x86_64/offsets.h.
 */
struct ep_tls {
	uint64_t cursor; /* address of the next record; 0 before the first */
	uint32_t timing_mask;     /* cursor & mask == 0: timed, or slow */
	uint32_t boundary_mask;   /* … and cursor & mask == 0: slow */
	uint64_t last_tsc;        /* time of the last timed record */
	const uint32_t *gate;     /* 0 there: recording may go on */
	struct ep_thread *thread; /* its entry in the arena; NULL: none */
	uint64_t pauses;          /* arena.pauses when last seen recording */
	uint64_t gap_at; /* cursor at the last gap seen (pace.c); 0 none */
	struct ep_shortcalls *shortcalls; /* NULL: none */
};
static_assert(sizeof(struct ep_tls) <= 64, "more does not fit under dlopen");

extern __thread struct ep_tls ep_tls __attribute__((visibility("hidden")));

/* Gives the caller a table entry and a ring. Called by the first hook. */
void ep_thread_start(void);

/* The caller is about to end: its ring may be reused. */
void ep_thread_end(void);

/* The caller's name in the table; NULL: take the kernel's again. */
void ep_thread_rename(const char *name);

/* Forgets the caller's ring and entry: a forked child starts anew. */
void ep_thread_reset(void);

#endif

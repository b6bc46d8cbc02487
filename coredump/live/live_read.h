/* SPDX-License-Identifier: BSD-2-Clause */
/* live_read.h: an arena's bytes out of a process that goes on recording. */
#ifndef EPITAPH_LIVE_READ_H
#define EPITAPH_LIVE_READ_H

#include "coredump/find/root.h"

#define EP_LIVE_READ_OWNERS 65536u /* threads; more share an entry */

/* One look at an arena. All zero before it. */
struct ep_live_read {
	uint64_t *until; /* TSC when a thread's blocks were first met, by serial modulo
			    EP_LIVE_READ_OWNERS */
	uint8_t *again;  /* a piece that is read once more */
};

void ep_live_read_deinit(struct ep_live_read *live);

/*
 * ep_source_read, of the arena that was found, by ascending addresses. A running process's threads
 * are held meanwhile (runtime/record/hold.h), where its runtime knows that and its memory may be
 * written, for as long as it takes to copy the rings into `out`. A block that was entered anew all
 * the same, or later than the first one of its thread was read, is zero in `out`, as if it had
 * never been there; of one that is being written, only the records before the first look's last are
 * taken. So none of a thread is missing between two that are there. *done counts as there, and must
 * not be NULL. EP_E_FORMAT: its first page names no page of it for its rings; nothing is read then.
 */
int ep_live_read_read(struct ep_live_read *live, struct ep_source *source,
		      const struct ep_root_found *found, uint64_t address, void *out, size_t size,
		      size_t *done, struct ep_err *err);

#endif

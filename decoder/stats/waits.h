/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.h: waits by the call that waited: the innermost traced call that was open when its thread
 * left the CPU, and the one that called it; or the innermost of which that is certain (placing.h).
 * Memory is
 * bounded by such pairs, threads that woke others, and open calls.
 */
#ifndef EPITAPH_WAITS_H
#define EPITAPH_WAITS_H

#include "decoder/kernel/schedule.h"
#include "decoder/stream/stream.h"

#define EP_WAIT_WAKERS 8 /* that are distinguished, of one site */

/* Who ended waits, and of how much time. */
struct ep_wait_waker {
	struct ep_slice slice; /* one of them */
	uint64_t count;
	int64_t total; /* ns */
};

struct ep_wait {
	const struct ep_function *function; /* NULL: outside of all calls that are known */
	const struct ep_function *caller;   /* NULL: not known */
	bool inside; /* in the call or in one that it called: not known which */
	uint64_t count;
	uint64_t open;                               /* of them: had not ended */
	int64_t total, longest;                      /* ns */
	struct ep_wait_waker wakers[EP_WAIT_WAKERS]; /* most time first */
	size_t waker_count;
};

struct ep_waits {
	struct ep_wait **list; /* most time first */
	size_t count, capacity;
	int64_t total;  /* ns, of all */
	int64_t inside; /* of that: somewhere inside of the calls named */
	int64_t ready;  /* ns that threads waited for a CPU */
};

/* NULL selection: all. */
void ep_waits_create(struct ep_waits *waits, const struct ep_trace *trace, struct ep_names *names,
		     const struct ep_selection *selection);
void ep_waits_deinit(struct ep_waits *waits);

#endif

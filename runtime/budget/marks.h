/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marks.h: which marks change nothing. What an exception leaves, and a jump goes back to, matters
 * to the calls that were recorded. Where nothing was recorded since such a mark, another one for
 * the same frame, or buffer, ends no call that the first one left open: where marks cost too much
 * (ep_budget_thin) it is left out, and counted. So when the functions are off that a storm of
 * exceptions goes through, the storm costs next to nothing, and nothing untrue is in the history.
 */
#ifndef EPITAPH_MARKS_H
#define EPITAPH_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/budget/budget.h"
#include "runtime/record/tls.h"

/* What a mark costs, with what comes before it; ns (docs/overhead.md). */
#define EP_MARK_NS 70

#define EP_QUIET_BUFFERS 4

/* Of one thread, which alone uses it. */
struct ep_quiet {
	uint64_t cursor, blocks; /* of the thread, behind the last mark */
	uint32_t serial;         /* whose */
	uint16_t generation;
	bool unthrown;  /* the exception that flies has no mark */
	uint64_t until; /* the outermost frame that an exception went on in since; 0 none */
	uint64_t buffers[EP_QUIET_BUFFERS]; /* saved since, and still as they were; 0 none */
	unsigned next;
	unsigned spared; /* marks that were left out and not told yet */
	uint64_t spared_ns;
};

/* The calling thread's, which records (ep_ring_recording); NULL: it has none. What was noted before
 * other records is forgotten. */
struct ep_quiet *ep_quiet_here(void);

/* Marks were recorded, which took `ns`: from here on. */
void ep_quiet_note(struct ep_quiet *quiet, uint64_t ns);

/* One was left out that would have taken `ns`. */
void ep_quiet_spare(struct ep_quiet *quiet, uint64_t ns);

/* The same buffer as the last one, at the same place: some ns. An address comes round again, but no
 * block is entered in between. */
static inline uint64_t ep_quiet_key(uint64_t buffer)
{
	return ep_tls.cursor ? ep_tls.cursor ^ buffer * UINT64_C(0x9e3779b97f4a7c15) : 0;
}
void ep_quiet_count(void);
static inline bool ep_quiet_again(uint64_t buffer)
{
	if (!ep_budget_thin || !ep_tls.quiet || ep_tls.quiet != ep_quiet_key(buffer))
		return false;
	ep_quiet_count();
	return true;
}

bool ep_quiet_has(const struct ep_quiet *quiet, uint64_t buffer);
void ep_quiet_add(struct ep_quiet *quiet, uint64_t buffer);

#endif

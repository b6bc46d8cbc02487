/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plans.h: what reading a thread ahead has told, kept for those who read it again. Whoever opens a
 * trace hangs them on to it; without them each reader reads ahead for itself.
 */
#ifndef EPITAPH_PLANS_H
#define EPITAPH_PLANS_H

#include "decoder/trace/trace.h"

struct ep_plan; /* pairing.c's, one block from malloc */

struct ep_plans {
	struct ep_plan **list; /* by thread; NULL: not made yet */
	size_t count;
};

void ep_plans_attach(struct ep_trace *trace);
/* Before the trace ends. None attached, and no trace, is allowed. */
void ep_plans_detach(struct ep_trace *trace);

/* Where the thread's is kept; NULL: nowhere. */
struct ep_plan **ep_plans_of(const struct ep_trace *trace, const struct ep_trace_thread *thread);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* plans.c: a plan for each thread of a trace. */
#include "decoder/calls/plans.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"

void ep_plans_attach(struct ep_trace *trace)
{
	trace->plans = ep_malloc(sizeof(*trace->plans));
	trace->plans->list = ep_calloc(trace->thread_count, sizeof(*trace->plans->list));
	trace->plans->count = trace->thread_count;
}

void ep_plans_detach(struct ep_trace *trace)
{
	struct ep_plans *plans = trace ? trace->plans : NULL;

	if (!plans)
		return;
	trace->plans = NULL;
	for (size_t i = 0; i < plans->count; i++)
		free(plans->list[i]);
	free(plans->list);
	free(plans);
}

struct ep_plan **ep_plans_of(const struct ep_trace *trace, const struct ep_trace_thread *thread)
{
	return trace->plans ? &trace->plans->list[thread - trace->threads] : NULL;
}

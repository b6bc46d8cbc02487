/* SPDX-License-Identifier: BSD-2-Clause */
/* report_state.c: whether a thread ran or waited at the end, since when, and in
 * which system call, from scheduling events and registers. */
#include <string.h>

#include "decoder/report_impl.h"

/* The slice in which recording ended, if nothing says that it was over before
 * the end. */
static const struct ep_slice *last_slice(const struct ep_report *report,
					 const struct ep_task *task,
					 const struct ep_trace_thread *thread)
{
	const struct ep_slice *slice =
		task && task->count ? &task->slices[task->count - 1] : NULL;

	if (!slice || !slice->open || slice->state == EP_SLICE_UNKNOWN ||
	    !report->trace->last_tsc)
		return NULL;
	/* It recorded something since, so it has run. */
	if (slice->state != EP_SLICE_RUNNING && thread->last_tsc > slice->begin)
		return NULL;
	return slice;
}

static void take_slice(struct ep_report_state *state,
		       const struct ep_report *report,
		       const struct ep_task *task)
{
	const struct ep_trace *trace = report->trace;
	const struct ep_slice *before = state->slice;
	uint64_t end = report->end_tsc > trace->schedule->last
			       ? report->end_tsc
			       : trace->schedule->last;

	state->ns = ep_trace_ns(trace, state->slice->begin, end);
	while (before > task->slices && before->state != EP_SLICE_RUNNING)
		before--;
	if (before == state->slice || before->state != EP_SLICE_RUNNING)
		return;
	state->ran = before;
	state->ran_ns = ep_trace_ns(trace, before->begin, before->end);
}

void ep_report_state_init(struct ep_report_state *state,
			  struct ep_report *report,
			  const struct ep_report_thread *thread)
{
	const struct ep_trace *trace = report->trace;
	const struct ep_task *task;

	memset(state, 0, sizeof(*state));
	if (trace && thread->trace) {
		task = ep_schedule_task(trace->schedule, thread->trace->tid);
		state->slice = last_slice(report, task, thread->trace);
		if (state->slice)
			take_slice(state, report, task);
	}
	state->inside =
		thread->core &&
		ep_systemcall_of(report->source, thread->core, &state->call);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_state.c: whether a thread ran or waited at the end, since when, and in which system call,
 * from scheduling events and registers. */
#include <string.h>

#include "decoder/report/model.h"

/* The slice in which recording ended, if nothing says that it was over before the end. */
static const struct ep_slice *last_slice(const struct ep_report *report, const struct ep_task *task,
					 const struct ep_trace_thread *thread)
{
	const struct ep_slice *slice = task && task->count ? &task->slices[task->count - 1] : NULL;

	if (!slice || !slice->open || slice->state == EP_SLICE_UNKNOWN || !report->trace->last_tsc)
		return NULL;
	/* It recorded something since, so it has run. */
	if (slice->state != EP_SLICE_RUNNING && thread->last_tsc > slice->begin)
		return NULL;
	return slice;
}

static void take_slice(struct ep_report_state *state, const struct ep_report *report,
		       const struct ep_task *task)
{
	const struct ep_trace *trace = report->trace;
	const struct ep_slice *before = state->slice;
	uint64_t end = report->trace->end.tsc > trace->schedule->last ? report->trace->end.tsc
								      : trace->schedule->last;

	state->ns = ep_trace_ns(trace, state->slice->begin, end);
	while (before > task->slices && before->state != EP_SLICE_RUNNING)
		before--;
	if (before == state->slice || before->state != EP_SLICE_RUNNING)
		return;
	state->ran = before;
	state->ran_ns = ep_trace_ns(trace, before->begin, before->end);
}

/*
 * A signal that ends the process wakes all of its threads (kernel/signal.c, zap_threads): one that
 * was woken by the thread that died, when that recorded nothing any more, waited until then.
 */
static void take_back_waking(struct ep_report_state *state, const struct ep_report *report,
			     const struct ep_report_thread *thread)
{
	const struct ep_trace *trace = report->trace;
	const struct ep_slice *ready = state->slice, *waited = ready - 1;
	const struct ep_trace_thread *died;
	const struct ep_task *task;
	struct ep_death death;

	ep_source_death(report->source, &death);
	died = death.signal ? ep_report_trace_thread(trace, death.tid) : NULL;
	task = ep_schedule_task(trace->schedule, thread->trace->tid);
	if (!died || died == thread->trace || ready->state != EP_SLICE_READY ||
	    ready == task->slices || waited->state != EP_SLICE_BLOCKED ||
	    waited->waker_kind != EP_WAKER_THREAD || waited->waker != death.tid ||
	    ready->begin < died->last_tsc)
		return;
	state->slice = waited;
	state->ns = ep_trace_ns(trace, waited->begin, waited->end);
}

void ep_report_state_init(struct ep_report_state *state, struct ep_report *report,
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
	if (state->slice)
		take_back_waking(state, report, thread);
	state->inside =
		thread->core && ep_systemcall_of(report->source, thread->core, &state->call);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_state.c: whether a thread ran or waited at the end, since when, and in which system call,
 * from scheduling events and registers. */
#include <string.h>

#include "decoder/report/parts.h"

/* The slice in which recording ended, if nothing says that it was over before the end. */
static const struct ep_slice *last_slice(const struct ep_evidence *evidence,
					 const struct ep_task *task,
					 const struct ep_trace_thread *thread)
{
	const struct ep_slice *slice = task && task->count ? &task->slices[task->count - 1] : NULL;

	if (!slice || !slice->open || slice->state == EP_SLICE_UNKNOWN ||
	    !evidence->trace->last_tsc)
		return NULL;
	/* It recorded something since, so it has run. */
	if (slice->state != EP_SLICE_RUNNING && thread->last_tsc > slice->begin)
		return NULL;
	return slice;
}

static void measure_slice(struct ep_report_state *state, const struct ep_evidence *evidence,
			  const struct ep_task *task)
{
	const struct ep_trace *trace = evidence->trace;
	const struct ep_slice *before = state->slice;
	uint64_t end = evidence->trace->end.tsc > trace->schedule->last ? evidence->trace->end.tsc
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
static void undo_waking(struct ep_report_state *state, const struct ep_evidence *evidence,
			const struct ep_report_entry *entry)
{
	const struct ep_trace *trace = evidence->trace;
	const struct ep_slice *ready = state->slice, *waited = ready - 1;
	const struct ep_trace_thread *died;
	const struct ep_task *task;
	struct ep_death death;

	ep_source_death(evidence->source, &death);
	died = death.signal ? ep_evidence_trace_thread(evidence, death.tid) : NULL;
	task = ep_schedule_task(trace->schedule, entry->trace->tid);
	if (!died || died == entry->trace || ready->state != EP_SLICE_READY ||
	    ready == task->slices || waited->state != EP_SLICE_BLOCKED ||
	    waited->waker_kind != EP_WAKER_THREAD || waited->waker != death.tid ||
	    ready->begin < died->last_tsc)
		return;
	state->slice = waited;
	state->ns = ep_trace_ns(trace, waited->begin, waited->end);
}

void ep_report_state_init(struct ep_report_state *state, const struct ep_evidence *evidence,
			  const struct ep_report_entry *entry)
{
	const struct ep_trace *trace = evidence->trace;
	const struct ep_task *task;

	memset(state, 0, sizeof(*state));
	if (trace && entry->trace) {
		task = ep_schedule_task(trace->schedule, entry->trace->tid);
		state->slice = last_slice(evidence, task, entry->trace);
		if (state->slice)
			measure_slice(state, evidence, task);
	}
	if (state->slice)
		undo_waking(state, evidence, entry);
	state->inside =
		entry->core && ep_systemcall_of(evidence->source, entry->core, &state->call);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule_ask.c: rows of slices, asked for a time or for a stretch of it. */
#include <stdio.h>

#include "coredump/util/search.h"
#include "decoder/kernel/scheduling.h"

const struct ep_task *ep_schedule_task(const struct ep_schedule *schedule, uint32_t tid)
{
	size_t low = ep_partition_point(schedule ? schedule->task_count : 0, i,
					schedule->tasks[i].tid < tid);

	return schedule && low < schedule->task_count && schedule->tasks[low].tid == tid
		       ? &schedule->tasks[low]
		       : NULL;
}

/* Slices that begin at or before `tsc`. */
static size_t begun(const struct ep_task *task, uint64_t tsc)
{
	return ep_partition_point(task->count, i, task->slices[i].begin <= tsc);
}

const struct ep_slice *ep_task_slice(const struct ep_task *task, uint64_t tsc)
{
	size_t at = task ? begun(task, tsc) : 0;

	return at ? &task->slices[at - 1] : NULL;
}

/* From the row's begin to `tsc`. */
static struct ep_slice_sum sum_until(const struct ep_task *task, uint64_t tsc)
{
	size_t at = begun(task, tsc);
	struct ep_slice_sum sum = {0, 0, 0};
	const struct ep_slice *slice;
	uint64_t length;

	if (!at)
		return sum;
	slice = &task->slices[at - 1];
	sum = task->sums[at - 1];
	length = (tsc < slice->end ? tsc : slice->end) - slice->begin;
	sum.running += slice->state == EP_SLICE_RUNNING ? length : 0;
	sum.ready += slice->state == EP_SLICE_READY ? length : 0;
	sum.blocked += slice->state == EP_SLICE_BLOCKED ? length : 0;
	return sum;
}

bool ep_task_times(const struct ep_trace *trace, const struct ep_task *task, uint64_t from,
		   uint64_t to, struct ep_slice_times *out)
{
	struct ep_slice_sum a, b;
	int64_t known;

	if (!task || !task->count || to < from)
		return false;
	a = sum_until(task, from);
	b = sum_until(task, to);
	out->running = ep_trace_ns(trace, a.running, b.running);
	out->ready = ep_trace_ns(trace, a.ready, b.ready);
	out->blocked = ep_trace_ns(trace, a.blocked, b.blocked);
	known = out->running + out->ready + out->blocked;
	out->unknown = ep_trace_ns(trace, from, to) - known;
	/* Each is rounded. */
	if (out->unknown < 4)
		out->unknown = 0;
	return known > 0;
}

const char *ep_waker_text(char *out, size_t size, const struct ep_schedule *schedule,
			  const struct ep_slice *slice)
{
	const struct ep_task *task;

	snprintf(out, size, "%s",
		 slice->waker_kind == EP_WAKER_IRQ    ? "an interrupt (timer or device)"
		 : slice->waker_kind == EP_WAKER_SOFT ? "a soft interrupt"
						      : "");
	if (slice->waker_kind != EP_WAKER_THREAD)
		return out;
	task = ep_schedule_task(schedule, slice->waker);
	snprintf(out, size, "%u%s%s", slice->waker, task && task->name[0] ? " " : "",
		 task ? task->name : "");
	return out;
}

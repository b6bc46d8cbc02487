/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule_slices.c: events in order of time → slices. A thread is in the state that its last event
 * left it in; where events are missing nobody's state is known until the next event of each.
 */
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/kernel/scheduling.h"

/* The state up to `tsc` of a thread that was not met before: it was in one that what comes can
 * follow. */
static void open_row(const struct ep_scheduling *s, struct ep_task_builder *row,
		     enum ep_slice_state state, uint64_t tsc)
{
	struct ep_slice slice = {
		.begin = s->schedule->first < tsc ? s->schedule->first : tsc,
		.state = state,
		.open = true,
	};

	if (row->slices.count == 0)
		ep_array_push(&row->slices, slice);
}

static struct ep_slice *present(struct ep_task_builder *row)
{
	return row->slices.count ? &row->slices.list[row->slices.count - 1] : NULL;
}

/* From `tsc` on the thread is in another state. */
static struct ep_slice *turn(struct ep_task_builder *row, uint64_t tsc, enum ep_slice_state state)
{
	struct ep_slice next = {.begin = tsc, .state = state, .open = true};
	struct ep_slice *now = present(row);

	if (now) {
		if (tsc < now->begin)
			tsc = next.begin = now->begin;
		now->end = tsc;
		now->open = false;
		/* Of no length: nobody needs it. */
		if (now->begin == tsc)
			row->slices.count--;
	}
	ep_array_push(&row->slices, next);
	return present(row);
}

/* It is on a CPU, though nothing told that it came: a kernel may not tell of each switch. Until
 * when it was off is not known. */
static void return_unseen(struct ep_slice *slice, unsigned cpu)
{
	if (slice->state == EP_SLICE_RUNNING)
		slice->cpu = (uint16_t)cpu;
	else if (slice->state != EP_SLICE_UNKNOWN)
		*slice = (struct ep_slice){.begin = slice->begin,
					   .state = EP_SLICE_UNKNOWN,
					   .cpu = (uint16_t)cpu,
					   .open = true,
					   .returned = true};
}

static void comes(struct ep_scheduling *s, uint32_t tid, uint64_t tsc, unsigned cpu)
{
	struct ep_task_builder *row = tid ? ep_scheduling_row(s, tid) : NULL;

	if (!row)
		return;
	open_row(s, row, EP_SLICE_UNKNOWN, tsc);
	turn(row, tsc, EP_SLICE_RUNNING)->cpu = (uint16_t)cpu;
}

/* `how`: the letter of its state; 0: it is still ready to run. */
static void leaves(struct ep_scheduling *s, uint32_t tid, uint64_t tsc, unsigned cpu, char how)
{
	struct ep_task_builder *row = tid ? ep_scheduling_row(s, tid) : NULL;

	if (!row)
		return;
	open_row(s, row, EP_SLICE_RUNNING, tsc);
	return_unseen(present(row), cpu);
	turn(row, tsc, how ? EP_SLICE_BLOCKED : EP_SLICE_READY)->how = how;
}

/* Who wakes another, or is interrupted by what does, is on a CPU. */
static void is_seen(struct ep_scheduling *s, uint32_t tid, uint64_t tsc, unsigned cpu)
{
	struct ep_task_builder *row = tid ? ep_scheduling_known(s, tid) : NULL;
	struct ep_slice *now = row ? present(row) : NULL;

	if (!now || now->state == EP_SLICE_RUNNING)
		return;
	return_unseen(now, cpu);
	comes(s, tid, tsc, cpu);
}

static void is_woken(struct ep_scheduling *s, const struct ep_sched_event *event)
{
	struct ep_task_builder *row = event->tid ? ep_scheduling_row(s, event->tid) : NULL;
	struct ep_slice *now;

	if (!row)
		return;
	open_row(s, row, EP_SLICE_BLOCKED, event->tsc);
	now = present(row);
	/* One that is about to wait, but does not yet, goes on running. */
	if (now->state != EP_SLICE_BLOCKED && now->state != EP_SLICE_UNKNOWN)
		return;
	now->waker_kind = (enum ep_waker_kind)event->flags;
	now->waker = event->flags == EP_WAKER_THREAD ? event->other : 0;
	if (!event->other && event->flags == EP_WAKER_THREAD)
		now->waker_kind = EP_WAKER_IRQ; /* an idle CPU's timer */
	turn(row, event->tsc, EP_SLICE_READY);
}

static void forget_all(struct ep_scheduling *s, uint64_t tsc)
{
	for (size_t i = 0; i < s->rows.count; i++) {
		struct ep_task_builder *row = &s->rows.list[i];

		if (row->slices.count && present(row)->state != EP_SLICE_UNKNOWN)
			turn(row, tsc, EP_SLICE_UNKNOWN);
	}
}

static void occupy(struct ep_scheduling *s, const struct ep_sched_event *event)
{
	if (!s->schedule->head.machine)
		return;
	ep_array_push(&s->occupations, ((struct ep_occupation){
					       .begin = event->tsc,
					       .end = s->schedule->last,
					       .tid = event->kind == EP_SCHED_OUT  ? 0
						      : event->kind == EP_SCHED_IN ? event->tid
										   : event->other,
					       .cpu = event->cpu,
				       }));
}

static void apply(struct ep_scheduling *s, const struct ep_sched_event *event)
{
	switch (event->kind) {
	case EP_SCHED_SWITCH:
		leaves(s, event->tid, event->tsc, event->cpu, (char)event->value);
		comes(s, event->other, event->tsc, event->cpu);
		occupy(s, event);
		break;
	case EP_SCHED_IN:
		comes(s, event->tid, event->tsc, event->cpu);
		occupy(s, event);
		break;
	case EP_SCHED_OUT:
		leaves(s, event->tid, event->tsc, event->cpu, event->flags ? 0 : 'S');
		occupy(s, event);
		break;
	case EP_SCHED_WAKING:
		is_seen(s, event->other, event->tsc, event->cpu);
		is_woken(s, event);
		break;
	case EP_SCHED_LOST:
		forget_all(s, event->tsc);
		break;
	}
}

/* ---- the end ---- */

static int by_time(const void *a, const void *b)
{
	const struct ep_sched_event *x = a, *y = b;

	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int namings_by_time(const void *a, const void *b)
{
	const struct ep_naming *x = a, *y = b;

	return (x->tsc > y->tsc) - (x->tsc < y->tsc);
}

static int kernel_events_by_time(const void *a, const void *b)
{
	const struct ep_kernel_event *x = a, *y = b;

	return (x->tsc > y->tsc) - (x->tsc < y->tsc);
}

static int by_tid(const void *a, const void *b)
{
	const struct ep_task *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void end_row(const struct ep_scheduling *s, struct ep_task_builder *row)
{
	struct ep_slice *last = present(row);

	if (last)
		last->end = s->schedule->last > last->begin ? s->schedule->last : last->begin;
}

static void sum_up(struct ep_task *task)
{
	struct ep_slice_sum sum = {0, 0, 0};

	task->sums = ep_calloc(task->count + 1, sizeof(*task->sums));
	for (size_t i = 0; i < task->count; i++) {
		const struct ep_slice *slice = &task->slices[i];
		uint64_t length = slice->end - slice->begin;

		task->sums[i] = sum;
		sum.running += slice->state == EP_SLICE_RUNNING ? length : 0;
		sum.ready += slice->state == EP_SLICE_READY ? length : 0;
		sum.blocked += slice->state == EP_SLICE_BLOCKED ? length : 0;
		if (slice->state == EP_SLICE_READY || slice->state == EP_SLICE_BLOCKED)
			ep_absences_add(&task->absences, slice->begin, slice->end);
	}
	task->sums[task->count] = sum;
}

/* Each ends where the next of its CPU begins. */
static void end_occupations(struct ep_scheduling *s)
{
	size_t last[1024]; /* and 1; 0: none */

	memset(last, 0, sizeof(last));
	for (size_t i = 0; i < s->occupations.count; i++) {
		struct ep_occupation *one = &s->occupations.list[i];
		size_t *before = &last[one->cpu % 1024];

		if (*before)
			s->occupations.list[*before - 1].end = one->begin;
		*before = i + 1;
	}
}

/*
 * What the kernel still held may tell of the time after the crash: of threads that are ended, and
 * wait for the core to be written. The last record is the last that is known of the process itself.
 */
static void settle_end(struct ep_scheduling *s)
{
	struct ep_schedule *schedule = s->schedule;
	uint64_t cut = s->trace->last_tsc > schedule->last ? s->trace->last_tsc : schedule->last;
	uint64_t latest;

	if (!s->events.count)
		return;
	ep_array_sort(&s->events, by_time);
	latest = s->events.list[s->events.count - 1].tsc;
	while (s->events.count && s->events.list[s->events.count - 1].tsc > cut)
		s->events.count--;
	if (latest > schedule->last)
		schedule->last = latest < cut ? latest : cut;
}

/* What the rows hold is the tasks' now. */
static void make_tasks(struct ep_scheduling *s)
{
	struct ep_schedule *schedule = s->schedule;

	schedule->tasks = ep_calloc(s->rows.count, sizeof(*schedule->tasks));
	schedule->task_count = s->rows.count;
	for (size_t i = 0; i < s->rows.count; i++) {
		struct ep_task *task = &schedule->tasks[i];

		*task = s->rows.list[i].task;
		task->slices = s->rows.list[i].slices.list;
		task->count = s->rows.list[i].slices.count;
		sum_up(task);
	}
	qsort(schedule->tasks, schedule->task_count, sizeof(*schedule->tasks), by_tid);
}

void ep_scheduling_finish(struct ep_scheduling *s)
{
	struct ep_schedule *schedule = s->schedule;

	settle_end(s);
	for (size_t i = 0; i < s->events.count; i++)
		if (s->events.list[i].tsc >= schedule->first)
			apply(s, &s->events.list[i]);
	ep_array_sort(&s->kernel_events, kernel_events_by_time);
	ep_array_sort(&s->namings, namings_by_time);
	end_occupations(s);
	for (size_t i = 0; i < s->rows.count; i++)
		end_row(s, &s->rows.list[i]);
	if (schedule->head.source == EP_SCHED_FTRACE)
		ep_scheduling_confront(s);
	make_tasks(s);
	schedule->events = s->events.list;
	schedule->event_count = s->events.count;
	schedule->namings = s->namings.list;
	schedule->naming_count = s->namings.count;
	schedule->kernel_events = s->kernel_events.list;
	schedule->kernel_event_count = s->kernel_events.count;
	schedule->occupations = s->occupations.list;
	schedule->occupation_count = s->occupations.count;
	ep_array_deinit(&s->rows);
	ep_hash_deinit(&s->by_tid);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule.c: chunks in order, then events in order of time, then slices. A thread is in the state
 * that its last event left it in; where events are missing nobody's state is known until the next
 * event of each.
 */
#include "decoder/kernel/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/kernel/schedule_impl.h"
#include "decoder/trace/trace_parts.h"
#include "coredump/util/utf8.h"

#define NAME_MAX_BYTES 16u

/* ---- growing ---- */

/* `list` with room for one more; NULL: out of memory, and `s` is starved. */
static void *grown(struct ep_scheduling *s, void *list, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 64;
	void *larger;

	if (count < *room)
		return list;
	larger = reallocarray(list, more, size);
	if (!larger) {
		s->starved = true;
		return NULL;
	}
	*room = more;
	return larger;
}

void ep_scheduling_add(struct ep_scheduling *s, const struct ep_sched_event *event)
{
	struct ep_schedule *to = s->schedule;
	struct ep_sched_event *list =
		grown(s, to->events, to->event_count, &s->event_room, sizeof(*list));

	if (!list)
		return;
	to->events = list;
	list[to->event_count] = *event;
	list[to->event_count].order = (uint32_t)to->event_count;
	to->event_count++;
}

void ep_scheduling_happen(struct ep_scheduling *s, const struct ep_kernel_event *kernel_event)
{
	struct ep_schedule *to = s->schedule;
	struct ep_kernel_event *list = grown(s, to->kernel_events, to->kernel_event_count,
					     &s->kernel_event_room, sizeof(*list));

	if (!list)
		return;
	to->kernel_events = list;
	list[to->kernel_event_count++] = *kernel_event;
}

/* ---- tasks ---- */

static size_t slot_of(const struct ep_scheduling *s, uint32_t tid)
{
	size_t at = tid * UINT64_C(0x9e3779b97f4a7c15) >> 40;

	for (;; at++) {
		uint32_t task = s->by_tid[at & (s->by_tid_size - 1)];

		if (!task || s->schedule->tasks[task - 1].tid == tid)
			return at & (s->by_tid_size - 1);
	}
}

static bool rehash(struct ep_scheduling *s)
{
	size_t size = s->by_tid_size ? s->by_tid_size * 2 : 256;
	uint32_t *hash = calloc(size, sizeof(*hash));

	if (!hash) {
		s->starved = true;
		return false;
	}
	free(s->by_tid);
	s->by_tid = hash;
	s->by_tid_size = size;
	for (size_t i = 0; i < s->schedule->task_count; i++)
		hash[slot_of(s, s->schedule->tasks[i].tid)] = (uint32_t)i + 1;
	return true;
}

struct ep_task *ep_scheduling_task(struct ep_scheduling *s, uint32_t tid)
{
	struct ep_schedule *to = s->schedule;
	struct ep_task *list;
	size_t slot;

	if (to->task_count * 2 >= s->by_tid_size && !rehash(s))
		return NULL;
	slot = slot_of(s, tid);
	if (s->by_tid[slot])
		return &to->tasks[s->by_tid[slot] - 1];
	list = grown(s, to->tasks, to->task_count, &s->task_room, sizeof(*list));
	if (!list)
		return NULL;
	to->tasks = list;
	list[to->task_count] = (struct ep_task){.tid = tid};
	s->by_tid[slot] = (uint32_t)++to->task_count;
	return &list[to->task_count - 1];
}

struct ep_task *ep_scheduling_known(const struct ep_scheduling *s, uint32_t tid)
{
	uint32_t task = s->by_tid_size ? s->by_tid[slot_of(s, tid)] : 0;

	return task ? &s->schedule->tasks[task - 1] : NULL;
}

void ep_scheduling_name(struct ep_scheduling *s, uint32_t tid, uint64_t tsc, const uint8_t *name,
			size_t size)
{
	struct ep_task *task = ep_scheduling_task(s, tid);
	char *shown;

	size = size < NAME_MAX_BYTES ? size : NAME_MAX_BYTES;
	size = strnlen((const char *)name, size);
	if (!task || tsc < task->named)
		return;
	task->named = tsc;
	/* Nearly always it is what it was. */
	if (strlen(task->name) == size && memcmp(task->name, name, size) == 0)
		return;
	shown = ep_utf8_escape((const char *)name, size);
	if (shown)
		snprintf(task->name, sizeof(task->name), "%s", shown);
	else
		s->starved = true;
	free(shown);
}

/* ---- slices ---- */

static void add_slice(struct ep_scheduling *s, struct ep_task *task, const struct ep_slice *slice)
{
	struct ep_slice *list = grown(s, task->slices, task->count, &task->room, sizeof(*list));

	if (!list)
		return;
	task->slices = list;
	list[task->count++] = *slice;
}

/* The state up to `tsc` of a thread that was not met before: it was in one that what comes can
 * follow. */
static void open_row(struct ep_scheduling *s, struct ep_task *task, enum ep_slice_state state,
		     uint64_t tsc)
{
	struct ep_slice slice = {
		.begin = s->schedule->first < tsc ? s->schedule->first : tsc,
		.state = state,
		.open = true,
	};

	if (task->count == 0)
		add_slice(s, task, &slice);
}

static struct ep_slice *present(struct ep_task *task)
{
	return task->count ? &task->slices[task->count - 1] : NULL;
}

/* From `tsc` on the thread is in another state. */
static struct ep_slice *turn(struct ep_scheduling *s, struct ep_task *task, uint64_t tsc,
			     enum ep_slice_state state)
{
	struct ep_slice next = {.begin = tsc, .state = state, .open = true};
	struct ep_slice *now = present(task);

	if (now) {
		if (tsc < now->begin)
			tsc = next.begin = now->begin;
		now->end = tsc;
		now->open = false;
		/* Of no length: nobody needs it. */
		if (now->begin == tsc)
			task->count--;
	}
	add_slice(s, task, &next);
	return s->starved ? NULL : present(task);
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
	struct ep_task *task = tid ? ep_scheduling_task(s, tid) : NULL;
	struct ep_slice *slice;

	if (!task)
		return;
	open_row(s, task, EP_SLICE_UNKNOWN, tsc);
	slice = turn(s, task, tsc, EP_SLICE_RUNNING);
	if (slice)
		slice->cpu = (uint16_t)cpu;
}

/* `how`: the letter of its state; 0: it is still ready to run. */
static void leaves(struct ep_scheduling *s, uint32_t tid, uint64_t tsc, unsigned cpu, char how)
{
	struct ep_task *task = tid ? ep_scheduling_task(s, tid) : NULL;
	struct ep_slice *slice;

	if (!task)
		return;
	open_row(s, task, EP_SLICE_RUNNING, tsc);
	if (present(task))
		return_unseen(present(task), cpu);
	slice = turn(s, task, tsc, how ? EP_SLICE_BLOCKED : EP_SLICE_READY);
	if (slice)
		slice->how = how;
}

/* Who wakes another, or is interrupted by what does, is on a CPU. */
static void is_seen(struct ep_scheduling *s, uint32_t tid, uint64_t tsc, unsigned cpu)
{
	struct ep_task *task = tid ? ep_scheduling_known(s, tid) : NULL;
	struct ep_slice *now = task ? present(task) : NULL;

	if (!now || now->state == EP_SLICE_RUNNING)
		return;
	return_unseen(now, cpu);
	comes(s, tid, tsc, cpu);
}

static void is_woken(struct ep_scheduling *s, const struct ep_sched_event *event)
{
	struct ep_task *task = event->tid ? ep_scheduling_task(s, event->tid) : NULL;
	struct ep_slice *now;

	if (!task)
		return;
	open_row(s, task, EP_SLICE_BLOCKED, event->tsc);
	now = present(task);
	/* One that is about to wait, but does not yet, goes on running. */
	if (!now || (now->state != EP_SLICE_BLOCKED && now->state != EP_SLICE_UNKNOWN))
		return;
	now->waker_kind = (enum ep_waker_kind)event->flags;
	now->waker = event->flags == EP_WAKER_THREAD ? event->other : 0;
	if (!event->other && event->flags == EP_WAKER_THREAD)
		now->waker_kind = EP_WAKER_IRQ; /* an idle CPU's timer */
	turn(s, task, event->tsc, EP_SLICE_READY);
}

static void forget_all(struct ep_scheduling *s, uint64_t tsc)
{
	for (size_t i = 0; i < s->schedule->task_count; i++)
		if (s->schedule->tasks[i].count &&
		    present(&s->schedule->tasks[i])->state != EP_SLICE_UNKNOWN)
			turn(s, &s->schedule->tasks[i], tsc, EP_SLICE_UNKNOWN);
}

static void occupy(struct ep_scheduling *s, const struct ep_sched_event *event)
{
	struct ep_schedule *to = s->schedule;
	struct ep_occupation *list;

	if (!to->head.machine)
		return;
	list = grown(s, to->occupations, to->occupation_count, &s->occupation_room, sizeof(*list));
	if (!list)
		return;
	to->occupations = list;
	list[to->occupation_count++] = (struct ep_occupation){
		.begin = event->tsc,
		.end = to->last,
		.tid = event->kind == EP_SCHED_OUT  ? 0
		       : event->kind == EP_SCHED_IN ? event->tid
						    : event->other,
		.cpu = event->cpu,
	};
}

static void take_event(struct ep_scheduling *s, const struct ep_sched_event *event)
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

static void end_row(const struct ep_scheduling *s, struct ep_task *task)
{
	struct ep_slice *last = present(task);

	if (last)
		last->end = s->schedule->last > last->begin ? s->schedule->last : last->begin;
}

static void sum_up(struct ep_scheduling *s, struct ep_task *task)
{
	struct ep_slice_sum sum = {0, 0, 0};

	task->sums = calloc(task->count + 1, sizeof(*task->sums));
	if (!task->sums) {
		s->starved = true;
		return;
	}
	for (size_t i = 0; i < task->count; i++) {
		const struct ep_slice *slice = &task->slices[i];
		uint64_t length = slice->end - slice->begin;

		task->sums[i] = sum;
		sum.running += slice->state == EP_SLICE_RUNNING ? length : 0;
		sum.ready += slice->state == EP_SLICE_READY ? length : 0;
		sum.blocked += slice->state == EP_SLICE_BLOCKED ? length : 0;
	}
	task->sums[task->count] = sum;
}

/* Each ends where the next of its CPU begins. */
static void end_occupations(struct ep_schedule *schedule)
{
	static const size_t none = SIZE_MAX;
	size_t last[1024];

	for (size_t i = 0; i < 1024; i++)
		last[i] = none;
	for (size_t i = 0; i < schedule->occupation_count; i++) {
		struct ep_occupation *one = &schedule->occupations[i];
		size_t *before = &last[one->cpu % 1024];

		if (*before != none)
			schedule->occupations[*before].end = one->begin;
		*before = i;
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

	if (!schedule->event_count)
		return;
	qsort(schedule->events, schedule->event_count, sizeof(*schedule->events), by_time);
	latest = schedule->events[schedule->event_count - 1].tsc;
	while (schedule->event_count && schedule->events[schedule->event_count - 1].tsc > cut)
		schedule->event_count--;
	if (latest > schedule->last)
		schedule->last = latest < cut ? latest : cut;
}

void ep_scheduling_finish(struct ep_scheduling *s)
{
	struct ep_schedule *schedule = s->schedule;

	settle_end(s);
	for (size_t i = 0; i < schedule->event_count && !s->starved; i++)
		if (schedule->events[i].tsc >= schedule->first)
			take_event(s, &schedule->events[i]);
	if (schedule->kernel_event_count)
		qsort(schedule->kernel_events, schedule->kernel_event_count,
		      sizeof(*schedule->kernel_events), kernel_events_by_time);
	end_occupations(schedule);
	for (size_t i = 0; i < schedule->task_count; i++)
		end_row(s, &schedule->tasks[i]);
	/* perf's times are another clock's: off by more than it takes to go. */
	if (schedule->head.source == EP_SCHED_FTRACE)
		ep_scheduling_confront(s);
	for (size_t i = 0; i < schedule->task_count; i++)
		sum_up(s, &schedule->tasks[i]);
	if (schedule->task_count)
		qsort(schedule->tasks, schedule->task_count, sizeof(*schedule->tasks), by_tid);
}

/* ---- chunks ---- */

struct chunk {
	const struct ep_sched_chunk *head; /* in the section */
	const uint8_t *data;
};

struct chunks {
	struct chunk *list;
	size_t count, room;
};

struct section {
	const struct ep_trace *trace;
	uint64_t offset, size; /* in the image */
	struct ep_sched head;
};

static const uint8_t *part(const struct section *section, uint64_t offset, uint64_t size)
{
	if (offset > section->size || size > section->size - offset)
		return NULL;
	return ep_trace_view(section->trace, section->offset + offset, size);
}

/* A whole chunk at `at` of the section that does not leave its segment. */
static const struct ep_sched_chunk *chunk_at(const struct section *section, uint64_t at,
					     uint64_t end)
{
	const struct ep_sched_chunk *chunk;
	uint64_t size;

	if (end - at < sizeof(*chunk))
		return NULL;
	chunk = (const void *)part(section, at, sizeof(*chunk));
	if (!chunk || !chunk->check)
		return NULL;
	size = (chunk->size + UINT64_C(7)) & ~UINT64_C(7);
	if (size > end - at - sizeof(*chunk) || !part(section, at, sizeof(*chunk) + size) ||
	    chunk->check != ep_sched_check(chunk, at, section->trace->image->root.identity))
		return NULL;
	return chunk;
}

static void collect_segment(struct ep_scheduling *s, const struct section *section, uint64_t at,
			    uint64_t end, struct chunks *chunks)
{
	const struct ep_sched_chunk *chunk;
	uint64_t sequence = 0;

	while ((chunk = chunk_at(section, at, end)) != NULL &&
	       (!sequence || chunk->sequence == sequence + 1)) {
		struct chunk *list =
			grown(s, chunks->list, chunks->count, &chunks->room, sizeof(*list));

		if (!list)
			return;
		chunks->list = list;
		list[chunks->count++] = (struct chunk){chunk, (const uint8_t *)(chunk + 1)};
		sequence = chunk->sequence;
		at += sizeof(*chunk) + ((chunk->size + UINT64_C(7)) & ~UINT64_C(7));
	}
}

static int by_sequence(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	return (x->head->sequence > y->head->sequence) - (x->head->sequence < y->head->sequence);
}

/* Chunks whose numbers lie between are gone: of what they told nothing is known up to when the next
 * was copied. */
static void note_hole(struct ep_scheduling *s, const struct ep_sched_chunk *a)
{
	struct ep_sched_event lost = {.tsc = a->tsc, .kind = EP_SCHED_LOST};

	s->schedule->losses++;
	ep_scheduling_add(s, &lost);
}

static void read_chunks(struct ep_scheduling *s, const struct chunks *chunks,
			const struct ep_formats *formats)
{
	uint64_t last[1024] = {0}, sequence = 0;

	for (size_t i = 0; i < chunks->count && !s->starved; i++) {
		const struct ep_sched_chunk *head = chunks->list[i].head;
		bool good;

		if (sequence && head->sequence != sequence + 1)
			note_hole(s, chunks->list[i - 1].head);
		sequence = head->sequence;
		if (head->source == EP_SCHED_PERF)
			good = ep_perf_records(s, chunks->list[i].data, head->size, head->cpu);
		else
			good = ep_ftrace_page(s, formats, chunks->list[i].data, head->size,
					      head->cpu, &last[head->cpu % 1024]);
		s->schedule->bad += !good;
	}
}

/* What was copied before the oldest chunk that is left is overwritten. */
static uint64_t begin_of(const struct section *section, const struct chunks *chunks)
{
	if (chunks->count && chunks->list[0].head->sequence > 1)
		return chunks->list[0].head->tsc;
	return section->head.start_tsc;
}

static void read_pool(struct ep_scheduling *s, const struct section *section,
		      const struct ep_formats *formats)
{
	const struct ep_sched *head = &section->head;
	struct chunks chunks = {0};

	for (uint64_t at = 0;
	     at < head->pool_size && head->pool_size - at >= EP_SCHED_SEGMENT && !s->starved;
	     at += EP_SCHED_SEGMENT)
		collect_segment(s, section, head->pool_offset + at,
				head->pool_offset + at + EP_SCHED_SEGMENT, &chunks);
	if (chunks.count)
		qsort(chunks.list, chunks.count, sizeof(*chunks.list), by_sequence);
	s->schedule->first = begin_of(section, &chunks);
	s->schedule->last = head->stop_tsc ? head->stop_tsc : head->drained_tsc;
	read_chunks(s, &chunks, formats);
	free(chunks.list);
}

/* ---- the section ---- */

static bool head_makes_sense(const struct section *section)
{
	const struct ep_sched *head = &section->head;

	return head->segment_size == EP_SCHED_SEGMENT && head->formats_used <= head->formats_size &&
	       head->formats_offset <= section->size &&
	       head->formats_size <= section->size - head->formats_offset &&
	       head->pool_offset % 8 == 0 && head->pool_offset <= section->size &&
	       head->pool_size <= section->size - head->pool_offset;
}

static int read_section(struct ep_scheduling *s, const struct section *section)
{
	const struct ep_sched *head = &section->head;
	struct ep_formats formats = {.count = 0};
	const uint8_t *texts = part(section, head->formats_offset, head->formats_used);
	int bad = 0;

	if (texts && head->formats_used)
		bad = ep_formats_read(&formats, texts, head->formats_used);
	if (bad < 0)
		return EP_E_MEMORY;
	s->schedule->bad += (uint64_t)bad;
	read_pool(s, section, &formats);
	ep_scheduling_finish(s);
	return s->starved ? EP_E_MEMORY : EP_OK;
}

int ep_schedule_create(struct ep_schedule **out, const struct ep_trace *trace, uint64_t offset,
		       uint64_t size, struct ep_err *err)
{
	struct section section = {trace, offset, size, {0}};
	const uint8_t *head = part(&section, 0, sizeof(section.head));
	struct ep_scheduling s = {.trace = trace};
	int rc;

	if (head)
		memcpy(&section.head, head, sizeof(section.head));
	if (!head || !head_makes_sense(&section))
		return ep_fail(err, EP_E_CORRUPT, offset,
			       "the head of the scheduling events makes no "
			       "sense");
	s.schedule = calloc(1, sizeof(*s.schedule));
	if (!s.schedule)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	s.schedule->head = section.head;
	rc = read_section(&s, &section);
	free(s.by_tid);
	if (rc) {
		ep_schedule_destroy(s.schedule);
		return ep_fail(err, rc, 0, "out of memory");
	}
	*out = s.schedule;
	return EP_OK;
}

void ep_schedule_destroy(struct ep_schedule *schedule)
{
	if (!schedule)
		return;
	for (size_t i = 0; i < schedule->task_count; i++) {
		free(schedule->tasks[i].slices);
		free(schedule->tasks[i].sums);
	}
	free(schedule->tasks);
	free(schedule->events);
	free(schedule->kernel_events);
	free(schedule->occupations);
	free(schedule);
}

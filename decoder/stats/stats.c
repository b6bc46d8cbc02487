/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats.c: each frame that ends adds to its function. Whether it was the outermost of its function
 * is known by a count for each function and thread.
 */
#include "decoder/stats/stats.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "decoder/stream/nest.h"
#include "decoder/calls/placing.h"

/* By id of the function. */
struct slot {
	struct ep_stat *stat; /* NULL: not met */
	uint32_t active;      /* frames of it on the thread's present stack */
	/* Beginnings of the latest runs whose open time its total and self may have. */
	uint64_t total_run, self_run;
};

struct table {
	EP_ARRAY(struct slot) slots;
};

/* Where a thread's last event was. */
struct last {
	int64_t ns;
	struct ep_time time; /* of one that was a call's begin or end */
};

struct counting {
	struct ep_stats *stats;
	const struct ep_trace *trace;
	bool by_thread;
	struct ep_names *names;
	struct ep_window window;
	bool selected;         /* not all calls are counted */
	struct table *threads; /* as the trace's */
	struct last *last;     /* of each thread */
	struct table all;
};

static struct slot *slot_of_slow(struct table *table, uint32_t id)
{
	while (table->slots.count <= id)
		ep_array_add(&table->slots);
	return &table->slots.list[id];
}

static inline struct slot *slot_of(struct table *table, uint32_t id)
{
	return id < table->slots.count ? &table->slots.list[id] : slot_of_slow(table, id);
}

static struct ep_stat *add_stat(struct counting *c, const struct ep_function *function,
				const struct ep_trace_thread *thread)
{
	struct ep_stat *stat = ep_calloc(1, sizeof(*stat));

	stat->function = function;
	stat->thread = c->by_thread ? thread : NULL;
	ep_array_push(c->stats, stat);
	return stat;
}

/* What the function's frames of this thread add to. */
static struct ep_stat *stat_of(struct counting *c, const struct ep_nest_thread *thread,
			       const struct ep_function *function)
{
	struct slot *slot =
		slot_of(c->by_thread ? &c->threads[thread->index] : &c->all, function->id);

	if (!slot->stat)
		slot->stat = add_stat(c, function, thread->thread);
	return slot->stat;
}

/* A duration is one unless something says that its ends may be those of two calls. */
static bool has_duration(const struct ep_event *event)
{
	uint32_t doubts = EP_CALL_BEFORE | EP_CALL_STRAY | EP_CALL_ACROSS_GAP | EP_CALL_AMBIGUOUS;

	if (event->kind != EP_EVENT_END)
		return false;
	if (event->flags & EP_CALL_ABANDONED)
		return event->flags & EP_CALL_UNWOUND;
	return !(event->flags & doubts);
}

static void add_duration(struct ep_quantiles *durations, int64_t ns)
{
	ep_quantiles_add(durations, ns > 0 ? (uint64_t)ns : 0);
}

/* Both ends have times of their own, or it is so long that what is not known does not matter. */
static bool is_timed(const struct ep_event *event)
{
	const struct ep_time *begin = &event->begin, *end = &event->end;

	if (begin->exact && end->exact)
		return true;
	return begin->high <= end->low && end->high != EP_TIME_UNKNOWN &&
	       end->high - begin->low - (end->low - begin->high) <= (end->low - begin->high) / 10;
}

/* ---- what is open ---- */

/* *least has `part` of a run's open cycles; it may have none, or all of them. */
static void add_open(const struct counting *c, const struct ep_time *time, uint64_t part,
		     int64_t *least, int64_t *most, uint64_t *run)
{
	int64_t has = ep_trace_ns(c->trace, 0, part);

	*least = ep_ns_add(*least, -has);
	*most = ep_ns_add(*most, -has);
	if (*run != time->low)
		*most = ep_ns_add(*most, ep_trace_ns(c->trace, 0, time->open));
	*run = time->low;
}

/* Time has gone on in the frame since the thread's last event, and up to `time`: in one run, or in
 * the end of one and the beginning of another. */
static void add_open_self(struct counting *c, const struct ep_nest_thread *thread,
			  const struct ep_nest_frame *frame, const struct ep_time *time)
{
	struct last *last = &c->last[thread->index], before = *last;
	bool one_run = before.time.low == time->low;
	uint64_t from = one_run ? before.time.best : time->low;
	struct ep_stat *stat;
	struct slot *slot;

	*last = (struct last){thread->now, *time};
	if (!frame || thread->now <= before.ns || !(before.time.open || time->open))
		return;
	stat = stat_of(c, thread, frame->function);
	slot = slot_of(&c->threads[thread->index], frame->function->id);
	if (before.time.open && !one_run)
		add_open(c, &before.time,
			 ep_time_open_part(&before.time, before.time.high - before.time.best),
			 &stat->self_least, &stat->self_most, &slot->self_run);
	if (time->open && time->best > from)
		add_open(c, time, ep_time_open_part(time, time->best - from), &stat->self_least,
			 &stat->self_most, &slot->self_run);
}

/* The outermost frame of its function ended: of the runs in which it began and ended. */
static void add_open_total(struct counting *c, struct slot *slot, struct ep_stat *stat,
			   const struct ep_event *event)
{
	struct ep_open open[2];
	unsigned count = ep_event_open(event, open);

	for (unsigned i = 0; i < count; i++)
		add_open(c, open[i].time, open[i].part, &stat->total_least, &stat->total_most,
			 &slot->total_run);
}

/* The outermost frame of its function ended. One that was suspended meanwhile has nothing added:
 * others ran on its thread. */
static void add_spent(struct counting *c, const struct ep_nest_thread *thread,
		      const struct ep_nest_frame *frame, struct ep_stat *stat)
{
	const struct ep_trace *trace = c->trace;
	struct ep_slice_times times;
	const struct ep_task *task = ep_schedule_task(trace->schedule, thread->thread->tid);
	uint64_t begin, end;

	stat->waiting += frame->waited;
	if (thread->now - frame->ran - frame->astray < frame->since)
		return;
	end = ep_trace_tsc(trace, thread->now);
	begin = ep_trace_tsc(trace, frame->since);
	if (!ep_task_times(trace, task, begin, end, &times))
		times = (struct ep_slice_times){.unknown = frame->ran};
	stat->running += times.running;
	stat->unknown += times.unknown;
}

static void frame_ended(struct counting *c, const struct ep_nest_thread *thread,
			const struct ep_event *event)
{
	const struct ep_nest_frame *frame = thread->frame;
	struct slot *slot = slot_of(&c->threads[thread->index], frame->function->id);
	bool left = event->kind == EP_EVENT_LEFT, returned = event->kind == EP_EVENT_END;
	struct ep_stat *stat;

	/* One that is suspended already is on no stack. */
	slot->active -= !left && slot->active > 0;
	if (event->kind == EP_EVENT_SUSPEND)
		return;
	stat = stat_of(c, thread, frame->function);
	stat->calls++;
	c->stats->calls++;
	stat->open += !returned;
	stat->before += (frame->flags & EP_CALL_BEFORE) != 0;
	stat->left += returned && event->flags & EP_CALL_ABANDONED;
	stat->switched += returned && event->flags & EP_CALL_SWITCHED;
	if (slot->active == 0) {
		if (returned && !(event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY)))
			add_open_total(c, slot, stat, event);
		stat->total += frame->ran;
		add_spent(c, thread, frame, stat);
	}
	stat->self += frame->ran - frame->inner;
	if (!has_duration(event))
		return;
	stat->whole++;
	if (!is_timed(event))
		return;
	stat->timed++;
	c->stats->timed++;
	add_duration(event->begin.sampled && event->end.sampled ? &stat->sampled : &stat->durations,
		     ep_trace_ns(c->trace, event->begin.best, event->end.best));
}

/* ---- spans --------------------------------------------------------------- */

/* What lies outside of the window that is asked for does not count. */
static int64_t span_ns(const struct counting *c, uint64_t from, uint64_t to)
{
	if (from < c->window.since)
		from = c->window.since;
	if (to > c->window.until)
		to = c->window.until;
	return to > from ? ep_trace_ns(c->trace, from, to) : 0;
}

static struct ep_stat *stat_of_span(struct counting *c, const struct ep_nest_thread *thread,
				    const char *name)
{
	return stat_of(c, thread, ep_names_span(c->names, name));
}

/* Of a span that has ended; or that has not, when the trace ends. */
static void add_span(struct counting *c, const struct ep_nest_thread *thread,
		     const struct ep_event *event)
{
	struct ep_stat *stat = stat_of_span(c, thread, event->text);
	bool before = event->flags & EP_CALL_BEFORE;

	stat->calls++;
	stat->before += before;
	stat->total += span_ns(c, before ? thread->thread->first_tsc : event->since.best,
			       event->begin.best);
	if (before || event->flags & EP_CALL_ACROSS_GAP)
		return;
	stat->timed++;
	stat->whole++;
	add_duration(&stat->durations, ep_trace_ns(c->trace, event->since.best, event->begin.best));
}

static void add_open_span(struct counting *c, const struct ep_nest_thread *thread,
			  const struct ep_event *event)
{
	struct ep_stat *stat = stat_of_span(c, thread, event->text);

	stat->calls++;
	stat->open++;
	stat->total += span_ns(c, event->begin.best, c->trace->end.tsc);
}

/* ---- waits --------------------------------------------------------------- */

static bool is_open(const struct ep_nest_thread *thread, const struct ep_wait_place *place,
		    unsigned step, const struct ep_function *function)
{
	for (unsigned i = 0; i < step; i++)
		if (place->path[i] == function)
			return true;
	for (size_t i = thread->own; i > 0; i--)
		if (thread->frames[i - 1].function == function)
			return true;
	return false;
}

/* The total of the function that is `step` on the path, where that does not have it yet. */
static struct ep_stat *add_total(struct counting *c, const struct ep_nest_thread *thread,
				 const struct ep_wait_place *place, unsigned step,
				 const struct ep_function *function)
{
	struct ep_stat *stat = stat_of(c, thread, function);

	if (!is_open(thread, place, step, function)) {
		stat->total += thread->gap;
		stat->waiting += thread->gap;
	}
	return stat;
}

/* A wait in functions of which it is not known in which call: their totals; of the innermost, by
 * whatever way it was called, its own, too. */
static void add_to_path(struct counting *c, const struct ep_nest_thread *thread,
			const struct ep_wait_place *place)
{
	struct ep_stat *stat = NULL;

	for (unsigned i = 0; i < place->path_count; i++)
		stat = add_total(c, thread, place, i, place->path[i]);
	if (place->innermost)
		add_total(c, thread, place, place->path_count, place->innermost)->self +=
			thread->gap;
	else if (stat)
		stat->inside += thread->gap;
}

static void add_wait(struct counting *c, const struct ep_nest_thread *thread,
		     const struct ep_wait_place *place)
{
	if (ep_place_is_certain(place))
		return;
	if (!c->selected && (place->path_count || place->innermost))
		add_to_path(c, thread, place);
	else if (thread->own == 0)
		c->stats->unplaced += thread->gap;
	else
		stat_of(c, thread, thread->frames[thread->own - 1].function)->inside += thread->gap;
}

/* A sink. */
static int stats_event(void *context, const struct ep_event *event,
		       const struct ep_nest_thread *thread)
{
	struct counting *c = context;

	if (event->kind == EP_EVENT_BEGIN && !(event->flags & EP_CALL_BEFORE))
		add_open_self(c, thread, thread->count > 1 ? thread->frame - 1 : NULL,
			      &event->begin);
	else if (event->kind == EP_EVENT_END && !(event->flags & EP_CALL_STRAY))
		add_open_self(c, thread, thread->frame, &event->end);
	else
		c->last[thread->index] = (struct last){thread->now + thread->gap, {0}};
	switch (event->kind) {
	case EP_EVENT_BEGIN:
	case EP_EVENT_RESUME:
		slot_of(&c->threads[thread->index], event->function->id)->active++;
		break;
	case EP_EVENT_END:
	case EP_EVENT_SUSPEND:
	case EP_EVENT_OPEN:
	case EP_EVENT_LEFT:
		if (!(event->flags & EP_CALL_STRAY))
			frame_ended(c, thread, event);
		break;
	case EP_EVENT_GAP:
		c->stats->gaps++;
		break;
	case EP_EVENT_POINT:
		if (event->point == EP_POINT_SPAN_END)
			add_span(c, thread, event);
		break;
	case EP_EVENT_OPEN_SPAN:
		add_open_span(c, thread, event);
		break;
	case EP_EVENT_WAIT:
		add_wait(c, thread, event->place);
		break;
	}
	return EP_OK;
}

static void finish(struct ep_stat *stat)
{
	struct ep_quantiles *durations = &stat->durations;
	uint64_t samples = stat->sampled.count, others = stat->whole - stat->timed;

	if (samples)
		ep_quantiles_add_all(durations, &stat->sampled,
				     (samples + others + samples / 2) / samples);
	stat->total_least = ep_ns_add(stat->total_least, stat->total);
	stat->total_most = ep_ns_add(stat->total_most, stat->total);
	stat->self_least = ep_ns_add(stat->self_least, stat->self);
	stat->self_most = ep_ns_add(stat->self_most, stat->self);
	stat->median = (int64_t)ep_quantiles_at(durations, 50);
	stat->p90 = (int64_t)ep_quantiles_at(durations, 90);
	stat->p99 = (int64_t)ep_quantiles_at(durations, 99);
}

void ep_stats_create(struct ep_stats *stats, const struct ep_trace *trace, struct ep_names *names,
		     const struct ep_selection *selection, bool by_thread)
{
	struct counting c = {
		.stats = stats,
		.trace = trace,
		.by_thread = by_thread,
		.names = names,
		.window = {0, UINT64_MAX},
		.selected = ep_selection_leaves_out(selection),
		.threads = ep_calloc(trace->thread_count, sizeof(*c.threads)),
		.last = ep_calloc(trace->thread_count, sizeof(*c.last)),
	};
	const struct ep_sink sink = {.context = &c,
				     .event = stats_event,
				     .waits = true,
				     .nested = true,
				     .any_order = true,
				     .clip = true};
	uint64_t shown;

	*stats = (struct ep_stats){0};
	if (selection)
		c.window = ep_selection_window(selection, trace);
	ep_stream(trace, names, selection, &sink, &shown);
	for (size_t i = 0; i < trace->thread_count; i++)
		ep_array_deinit(&c.threads[i].slots);
	free(c.threads);
	free(c.last);
	ep_array_deinit(&c.all.slots);
	for (size_t i = 0; i < stats->count; i++)
		finish(stats->list[i]);
}

void ep_stats_deinit(struct ep_stats *stats)
{
	for (size_t i = 0; i < stats->count; i++) {
		ep_quantiles_deinit(&stats->list[i]->durations);
		ep_quantiles_deinit(&stats->list[i]->sampled);
		free(stats->list[i]);
	}
	free(stats->list);
	*stats = (struct ep_stats){0};
}

/* ---- order ---- */

int64_t ep_stat_value(const struct ep_stat *stat, enum ep_stats_key key)
{
	const struct ep_quantiles *durations = &stat->durations;

	switch (key) {
	case EP_STATS_SELF:
		return stat->self;
	case EP_STATS_TOTAL:
		return stat->total;
	case EP_STATS_CALLS:
		return (int64_t)stat->calls;
	case EP_STATS_MIN:
		return durations->count ? (int64_t)durations->min : 0;
	case EP_STATS_MEDIAN:
		return stat->median;
	case EP_STATS_P90:
		return stat->p90;
	case EP_STATS_P99:
		return stat->p99;
	case EP_STATS_MAX:
		return durations->count ? (int64_t)durations->max : 0;
	case EP_STATS_RUNNING:
		return stat->running;
	case EP_STATS_WAITING:
		return stat->waiting;
	case EP_STATS_NAME:
		return 0;
	}
	return 0;
}

struct order {
	enum ep_stats_key key;
	bool reverse;
};

static int compare_names(const struct ep_stat *x, const struct ep_stat *y)
{
	int order = strcmp(x->function->name, y->function->name);

	if (!order)
		order = strcmp(x->function->module, y->function->module);
	if (!order && x->function->start != y->function->start)
		order = x->function->start < y->function->start ? -1 : 1;
	if (!order && x->thread && y->thread)
		order = x->thread->serial < y->thread->serial ? -1 : 1;
	return order;
}

static int compare_stats(const void *a, const void *b, void *context)
{
	const struct ep_stat *x = *(struct ep_stat *const *)a;
	const struct ep_stat *y = *(struct ep_stat *const *)b;
	const struct order *order = context;
	int64_t p = ep_stat_value(x, order->key);
	int64_t q = ep_stat_value(y, order->key);
	int by = (p < q) - (p > q);

	if (order->key == EP_STATS_NAME)
		by = compare_names(x, y);
	if (order->reverse)
		by = -by;
	return by ? by : compare_names(x, y);
}

void ep_stats_sort(struct ep_stats *stats, enum ep_stats_key key, bool reverse)
{
	struct order order = {key, reverse};

	if (stats->count)
		qsort_r(stats->list, stats->count, sizeof(struct ep_stat *), compare_stats, &order);
}

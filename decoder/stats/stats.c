/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats.c: each frame that ends adds to its function. Whether it was the outermost of its function
 * is known by a count for each function and thread.
 */
#include "decoder/stats/stats.h"

#include <stdlib.h>
#include <string.h>

#include "decoder/stream/nest.h"
#include "decoder/calls/placing.h"

/* By id of the function. */
struct slot {
	struct ep_stat *stat; /* NULL: not met */
	uint32_t active;      /* frames of it on the thread's present stack */
};

struct table {
	struct slot *slots;
	size_t count;
};

struct counting {
	struct ep_stats *stats;
	const struct ep_trace *trace;
	size_t room;
	bool by_thread;
	struct ep_names *names;
	struct ep_window window;
	bool selected;         /* not all calls are counted */
	struct table *threads; /* as the trace's */
	struct table all;
};

static int out_of_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

static struct slot *slot_of_slow(struct table *table, uint32_t id)
{
	size_t count = table->count ? table->count : 64;
	struct slot *grown;

	while (count <= id)
		count *= 2;
	grown = realloc(table->slots, count * sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + table->count, 0, (count - table->count) * sizeof(*grown));
	table->slots = grown;
	table->count = count;
	return &table->slots[id];
}

/* NULL: out of memory. */
static inline struct slot *slot_of(struct table *table, uint32_t id)
{
	return id < table->count ? &table->slots[id] : slot_of_slow(table, id);
}

static struct ep_stat *add_stat(struct counting *c, const struct ep_function *function,
				const struct ep_trace_thread *thread)
{
	struct ep_stats *stats = c->stats;
	size_t room = c->room ? 2 * c->room : 256;
	struct ep_stat **grown, *stat;

	if (stats->count == c->room) {
		grown = realloc(stats->list, room * sizeof(struct ep_stat *));
		if (!grown)
			return NULL;
		stats->list = grown;
		c->room = room;
	}
	stat = calloc(1, sizeof(*stat));
	if (!stat)
		return NULL;
	stat->function = function;
	stat->thread = c->by_thread ? thread : NULL;
	stats->list[stats->count++] = stat;
	return stat;
}

/* Where the function's frames of this thread are counted, and what they add to; NULL: out of
 * memory. */
static struct slot *find(struct counting *c, const struct ep_nest_thread *thread,
			 const struct ep_function *function, struct ep_stat **stat)
{
	struct slot *own = slot_of(&c->threads[thread->index], function->id);
	struct slot *shared = c->by_thread ? own : slot_of(&c->all, function->id);

	if (!own || !shared)
		return NULL;
	if (!shared->stat)
		shared->stat = add_stat(c, function, thread->thread);
	*stat = shared->stat;
	return *stat ? own : NULL;
}

static int begin(void *context, const struct ep_nest_thread *thread, struct ep_nest_frame *frame,
		 enum ep_nest_why why, const struct ep_event *event, struct ep_err *err)
{
	struct counting *c = context;
	struct slot *slot = slot_of(&c->threads[thread->index], frame->function->id);

	(void)why, (void)event;
	if (!slot)
		return out_of_memory(err);
	slot->active++;
	return EP_OK;
}

/* A duration counts when both of its ends have times of their own, and nothing says that they may
 * be those of two calls. */
static bool is_timed(const struct ep_event *event)
{
	uint32_t doubts = EP_CALL_BEFORE | EP_CALL_STRAY | EP_CALL_ACROSS_GAP | EP_CALL_AMBIGUOUS;

	if (!event || !event->begin.exact || !event->end.exact)
		return false;
	if (event->flags & EP_CALL_ABANDONED)
		return event->flags & EP_CALL_UNWOUND;
	return !(event->flags & doubts);
}

static void add_duration(struct counting *c, struct ep_stat *stat, const struct ep_event *event)
{
	int64_t ns;

	if (!is_timed(event))
		return;
	ns = ep_trace_ns(c->trace, event->begin.best, event->end.best);
	c->stats->timed++;
	ep_quantiles_add(&stat->durations, ns > 0 ? (uint64_t)ns : 0);
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

static int end(void *context, const struct ep_nest_thread *thread, struct ep_nest_frame *frame,
	       enum ep_nest_why why, const struct ep_event *event, struct ep_err *err)
{
	struct counting *c = context;
	struct ep_stat *stat;
	struct slot *slot = find(c, thread, frame->function, &stat);
	bool suspended = why == EP_NEST_LEFT;

	if (!slot)
		return out_of_memory(err);
	/* One that is suspended already is on no stack. */
	slot->active -= !suspended && slot->active > 0;
	if (why == EP_NEST_SWITCH)
		return EP_OK;
	stat->calls++;
	c->stats->calls++;
	stat->open += why == EP_NEST_OPEN || why == EP_NEST_LEFT;
	stat->before += (frame->flags & EP_CALL_BEFORE) != 0;
	stat->left += event && event->flags & EP_CALL_ABANDONED;
	if (slot->active == 0) {
		stat->total += frame->ran;
		add_spent(c, thread, frame, stat);
	}
	stat->self += frame->ran - frame->inner;
	add_duration(c, stat, event);
	return EP_OK;
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
	struct ep_stat *stat = NULL;

	find(c, thread, ep_names_span(c->names, name), &stat);
	return stat;
}

/* Of a span that has ended; or that has not, when the trace ends. */
static int add_span(struct counting *c, const struct ep_nest_thread *thread,
		    const struct ep_event *event, struct ep_err *err)
{
	struct ep_stat *stat = stat_of_span(c, thread, event->text);
	bool before = event->flags & EP_CALL_BEFORE;
	int64_t ns;

	if (!stat)
		return out_of_memory(err);
	stat->calls++;
	stat->before += before;
	ns = span_ns(c, before ? thread->thread->first_tsc : event->since.best, event->begin.best);
	stat->total += ns;
	if (before || event->flags & EP_CALL_ACROSS_GAP)
		return EP_OK;
	ns = ep_trace_ns(c->trace, event->since.best, event->begin.best);
	ep_quantiles_add(&stat->durations, ns > 0 ? (uint64_t)ns : 0);
	return EP_OK;
}

static int moment(void *context, const struct ep_nest_thread *thread, const struct ep_event *event,
		  struct ep_err *err)
{
	struct counting *c = context;

	c->stats->gaps += event->kind == EP_EVENT_GAP;
	if (event->kind == EP_EVENT_POINT && event->point == EP_POINT_SPAN_END)
		return add_span(c, thread, event, err);
	return EP_OK;
}

static int open_span(void *context, const struct ep_nest_thread *thread,
		     const struct ep_event *event, struct ep_err *err)
{
	struct counting *c = context;
	struct ep_stat *stat = stat_of_span(c, thread, event->text);

	if (!stat)
		return out_of_memory(err);
	stat->calls++;
	stat->open++;
	stat->total += span_ns(c, event->begin.best, c->trace->end.tsc);
	return EP_OK;
}

/* ---- waits --------------------------------------------------------------- */

static bool is_open(const struct ep_nest_thread *thread, size_t own,
		    const struct ep_wait_place *place, unsigned step,
		    const struct ep_function *function)
{
	for (unsigned i = 0; i < step; i++)
		if (place->path[i] == function)
			return true;
	while (own > 0)
		if (thread->frames[--own].function == function)
			return true;
	return false;
}

/* A wait in a function of which it is not known in which call: its total, and where it is the last,
 * its own. */
static int add_to_path(struct counting *c, const struct ep_nest_thread *thread, size_t own,
		       int64_t ns, const struct ep_wait_place *place, struct ep_err *err)
{
	struct ep_stat *stat = NULL;

	for (unsigned i = 0; i < place->path_count; i++) {
		if (!find(c, thread, place->path[i], &stat))
			return out_of_memory(err);
		if (!is_open(thread, own, place, i, place->path[i])) {
			stat->total += ns;
			stat->waiting += ns;
		}
	}
	if (!place->innermost)
		stat->inside += ns;
	return EP_OK;
}

/* A wait in a function, by whatever way it was called: its own; and its total, where that does not
 * have it yet. */
static int add_own(struct counting *c, const struct ep_nest_thread *thread, size_t own, int64_t ns,
		   const struct ep_wait_place *place, struct ep_err *err)
{
	struct ep_stat *stat = NULL;

	if (!find(c, thread, place->innermost, &stat))
		return out_of_memory(err);
	stat->self += ns;
	if (!is_open(thread, own, place, place->path_count, place->innermost)) {
		stat->total += ns;
		stat->waiting += ns;
	}
	return EP_OK;
}

static int wait(void *context, const struct ep_nest_thread *thread, size_t own, int64_t ns,
		const struct ep_event *event, struct ep_err *err)
{
	struct counting *c = context;
	const struct ep_wait_place *place = event->place;
	struct ep_stat *stat;
	int rc = EP_OK;

	if (ep_place_is_certain(place))
		return EP_OK;
	if (place->path_count && !c->selected)
		rc = add_to_path(c, thread, own, ns, place, err);
	if (!rc && place->innermost && !c->selected)
		return add_own(c, thread, own, ns, place, err);
	if (rc || (place->path_count && !c->selected))
		return rc;
	if (own == 0) {
		c->stats->unplaced += ns;
		return EP_OK;
	}
	if (!find(c, thread, thread->frames[own - 1].function, &stat))
		return out_of_memory(err);
	stat->inside += ns;
	return EP_OK;
}

static void finish(struct ep_stat *stat)
{
	struct ep_quantiles *durations = &stat->durations;

	stat->median = (int64_t)ep_quantiles_at(durations, 50);
	stat->p90 = (int64_t)ep_quantiles_at(durations, 90);
	stat->p99 = (int64_t)ep_quantiles_at(durations, 99);
}

static void counting_deinit(struct counting *c)
{
	for (size_t i = 0; c->threads && i < c->trace->thread_count; i++)
		free(c->threads[i].slots);
	free(c->threads);
	free(c->all.slots);
}

int ep_stats_create(struct ep_stats *stats, const struct ep_trace *trace, struct ep_names *names,
		    const struct ep_selection *selection, bool by_thread, struct ep_err *err)
{
	struct counting c = {
		.stats = stats,
		.trace = trace,
		.by_thread = by_thread,
		.names = names,
		.window = {0, UINT64_MAX},
	};
	const struct ep_nest_sink sink = {&c, begin, end, moment, open_span, wait};
	uint64_t shown;
	int rc;

	*stats = (struct ep_stats){0};
	if (selection)
		c.window = ep_selection_window(selection, trace);
	c.selected = ep_selection_leaves_out(selection);
	c.threads = calloc(trace->thread_count + 1, sizeof(*c.threads));
	rc = c.threads ? ep_nest_stream(trace, names, selection, true, &sink, &shown, err)
		       : out_of_memory(err);
	counting_deinit(&c);
	for (size_t i = 0; i < stats->count; i++)
		finish(stats->list[i]);
	if (rc)
		ep_stats_deinit(stats);
	return rc;
}

void ep_stats_deinit(struct ep_stats *stats)
{
	for (size_t i = 0; i < stats->count; i++) {
		ep_quantiles_deinit(&stats->list[i]->durations);
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

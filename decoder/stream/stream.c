/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.c: everything that can be selected is an item with a number, in the order in which it
 * begins: a call, a gap. What only the end of a call shows, or the end of the trace, is found by
 * runs before the one that counts, which leave a few bits for each item.
 */
#include "decoder/stream/stream.h"

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/progress.h"
#include "decoder/stream/merge.h"
#include "decoder/stream/nest.h"

struct open_call {
	uint64_t call, item;
	uint32_t stack;
	bool shown;
};

#define PROGRESS_EVENTS 65536u /* after so many of them it is said how far it is */

#define ALONE UINT64_MAX /* as a call's number: a point in none */

struct bits {
	EP_ARRAY(uint64_t) words;
};

struct thread {
	EP_ARRAY(struct open_call) open;
	uint32_t stack; /* that it runs on */
	uint64_t first; /* item + 1: see find_callers */
};

struct stream {
	const struct ep_trace *trace;
	struct ep_names *names;
	const struct ep_selection *selection;
	struct ep_window window;
	const struct ep_tail *tail; /* NULL: the threads are read, and merged */
	size_t tail_at;
	struct ep_merge *merge;
	unsigned run, runs;     /* the present one, from 1, of how many */
	uint64_t blocks;        /* of each */
	struct thread *threads; /* as the trace's threads */
	uint64_t items;         /* so far, in this run */
	/* of the runs before the last */
	struct bits passes, ended, gaps, marked;
	EP_ARRAY(char) matches; /* by id of a function: 'y', 'n', 0 not asked yet */
	/* of the last run */
	bool one_run; /* a BEGIN is enough to decide */
	const struct ep_sink *sink;
	uint64_t shown;
};

typedef int (*visit_fn)(struct stream *stream, const struct ep_event *event,
			struct open_call *call);

static int hand_out(struct stream *stream, const struct ep_event *event, struct open_call *call);

static bool gap_passes(const struct stream *stream, const struct ep_event *event)
{
	return event->begin.best <= stream->window.until && event->end.best >= stream->window.since;
}

/* ---- bits ---- */

static bool bit(const struct bits *bits, uint64_t at)
{
	return at / 64 < bits->words.count && bits->words.list[at / 64] >> at % 64 & 1;
}

static void bit_set(struct bits *bits, uint64_t at, bool value)
{
	while (at / 64 >= bits->words.count)
		ep_array_add(&bits->words);
	bits->words.list[at / 64] &= ~(UINT64_C(1) << at % 64);
	bits->words.list[at / 64] |= (uint64_t)value << at % 64;
}

/* ---- what is asked for ---- */

static bool wants(const struct ep_trace_thread *thread, void *context)
{
	const struct stream *stream = context;

	return ep_selection_wants_thread(stream->selection, thread);
}

/* Does the name fit? Asked once for each function. */
static bool matches(struct stream *stream, const struct ep_function *function)
{
	const struct ep_patterns *wanted = &stream->selection->functions;
	char *match;

	if (!wanted->count)
		return true;
	while (stream->matches.count <= function->id)
		ep_array_add(&stream->matches);
	match = &stream->matches.list[function->id];
	if (!*match)
		*match = ep_patterns_match(wanted, function->name) ? 'y' : 'n';
	return *match == 'y';
}

/* As far as the begin of a call tells. */
static bool begin_passes(struct stream *stream, const struct ep_event *event)
{
	uint32_t depth = stream->selection->depth;

	if (event->begin.best > stream->window.until || (depth && event->depth >= depth))
		return false;
	return matches(stream, event->function);
}

/* Its end, when its begin did. */
static bool end_passes(const struct stream *stream, const struct ep_event *event)
{
	int64_t least = stream->selection->min_duration;

	return event->end.best >= stream->window.since &&
	       (!least || ep_trace_ns(stream->trace, event->begin.best, event->end.best) >= least);
}

static bool in_window(const struct stream *stream, const struct ep_event *event)
{
	return event->begin.best >= stream->window.since &&
	       event->begin.best <= stream->window.until;
}

/* ---- a run over the trace ---- */

static int emit(struct stream *stream, const struct ep_event *event)
{
	return stream->sink->event(stream->sink->context, event, NULL);
}

static bool is_whole_end(const struct ep_event *event)
{
	return event->kind == EP_EVENT_END && event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY);
}

static struct open_call *find_open(struct thread *thread, uint64_t call)
{
	for (size_t i = thread->open.count; i > 0; i--)
		if (thread->open.list[i - 1].call == call)
			return &thread->open.list[i - 1];
	return NULL;
}

/* The same of calls that come in the order in which they lie there: each is behind the one before,
 * at *next or soon after. Recursion without end leaves hundreds of thousands open. */
static struct open_call *find_next(struct thread *thread, size_t *next, uint64_t call)
{
	struct open_call *found = NULL;

	for (size_t i = *next; i < thread->open.count && !found; i++)
		if (thread->open.list[i].call == call)
			found = &thread->open.list[i];
	if (!found)
		found = find_open(thread, call);
	if (found)
		*next = (size_t)(found - thread->open.list) + 1;
	return found;
}

/* The call that a point lies in: a switch happens on the stack that it leaves. */
static struct open_call *innermost(struct thread *thread)
{
	for (size_t i = thread->open.count; i > 0; i--)
		if (thread->open.list[i - 1].stack == thread->stack)
			return &thread->open.list[i - 1];
	return NULL;
}

static struct thread *thread_of(struct stream *stream, const struct ep_event *event)
{
	return &stream->threads[event->thread - stream->trace->threads];
}

static int run_begin(struct stream *stream, const struct ep_event *event, visit_fn visit)
{
	struct thread *thread = thread_of(stream, event);
	struct open_call *call = ep_array_slot(&thread->open);

	*call = (struct open_call){event->call, stream->items++, event->stack, false};
	return visit(stream, event, call);
}

static int run_end(struct stream *stream, const struct ep_event *event, struct open_call *call,
		   visit_fn visit)
{
	struct thread *thread = thread_of(stream, event);
	int rc = visit(stream, event, call);
	struct open_call *end = thread->open.list + --thread->open.count;

	memmove(call, call + 1, (size_t)(end - call) * sizeof(*call));
	return rc;
}

/* A point belongs to the call that it happened in. What the program says where no call is open is
 * an item of its own. */
static int run_point(struct stream *stream, const struct ep_event *event, visit_fn visit)
{
	struct thread *thread = thread_of(stream, event);
	struct open_call alone = {.call = ALONE}, *call = innermost(thread);

	thread->stack = event->stack;
	if (call)
		return visit(stream, event, call);
	if (event->point < EP_POINT_NOTE)
		return visit(stream, event, NULL);
	alone.item = stream->items++;
	return visit(stream, event, &alone);
}

/* A wait belongs to a call, and is no item of its own: it comes in the run that counts. */
static int run_event(struct stream *stream, const struct ep_event *event, visit_fn visit)
{
	struct thread *thread = thread_of(stream, event);
	struct open_call one = {.call = event->call}, *call;

	if (event->kind == EP_EVENT_WAIT)
		return visit == hand_out && gap_passes(stream, event) ? emit(stream, event) : EP_OK;
	if (event->kind == EP_EVENT_POINT)
		return run_point(stream, event, visit);
	thread->stack = event->stack;
	if (event->kind == EP_EVENT_BEGIN)
		return run_begin(stream, event, visit);
	if (event->kind == EP_EVENT_END && !is_whole_end(event) &&
	    (call = find_open(thread, event->call)))
		return run_end(stream, event, call, visit);
	one.item = stream->items++;
	return visit(stream, event, &one);
}

static void run_rewind(struct stream *stream)
{
	stream->items = stream->tail_at = 0;
	for (size_t i = 0; i < stream->trace->thread_count; i++)
		stream->threads[i].open.count = stream->threads[i].stack = 0;
	if (stream->tail)
		return;
	ep_merge_destroy(stream->merge);
	stream->merge =
		ep_merge_create(stream->trace, stream->names, stream->sink->waits, wants, stream);
}

/* EP_OK or EP_END. */
static int next_event(struct stream *stream, const struct ep_event **out)
{
	if (!stream->tail)
		return ep_merge_next(stream->merge, out);
	if (stream->tail_at == stream->tail->events.count)
		return EP_END;
	*out = &stream->tail->events.list[stream->tail_at++];
	return EP_OK;
}

static bool say_progress(const struct stream *stream)
{
	uint64_t left = ep_merge_blocks_left(stream->merge);

	return ep_progress("reading calls", stream->run * stream->blocks - left,
			   stream->runs * stream->blocks);
}

/* Leaves the merge at its end, for what is open then. */
static int run(struct stream *stream, visit_fn visit)
{
	const struct ep_event *event;
	uint32_t events = 0;
	int rc = EP_OK;

	run_rewind(stream);
	stream->run++;
	if (stream->merge && stream->run == 1)
		stream->blocks = ep_merge_blocks_left(stream->merge);
	while (!rc && next_event(stream, &event) == EP_OK) {
		rc = run_event(stream, event, visit);
		if (!rc && ++events % PROGRESS_EVENTS == 0 && stream->merge &&
		    !say_progress(stream))
			rc = EP_END;
	}
	return rc;
}

/* ---- the runs before ---- */

static void judge_end(struct stream *stream, const struct ep_event *event, uint64_t item)
{
	bool passes =
		is_whole_end(event) ? begin_passes(stream, event) : bit(&stream->passes, item);

	bit_set(&stream->ended, item, true);
	bit_set(&stream->passes, item, passes && end_passes(stream, event));
}

static int judge(struct stream *stream, const struct ep_event *event, struct open_call *call)
{
	if (event->kind == EP_EVENT_BEGIN) {
		bit_set(&stream->passes, call->item, begin_passes(stream, event));
	} else if (event->kind == EP_EVENT_END) {
		judge_end(stream, event, call->item);
	} else if (event->kind == EP_EVENT_GAP) {
		bit_set(&stream->gaps, call->item, true);
		bit_set(&stream->passes, call->item, gap_passes(stream, event));
	} else if (call && call->call == ALONE) {
		bit_set(&stream->ended, call->item, true);
		bit_set(&stream->passes, call->item,
			in_window(stream, event) && !stream->selection->functions.count);
	}
	return EP_OK;
}

/* The last calls that pass, what passes between them, and those that are open. */
static void mark_last(struct stream *stream)
{
	uint64_t left = stream->selection->last_calls;

	for (uint64_t item = stream->items; item-- > 0;) {
		bool gap = bit(&stream->gaps, item);
		bool open = !gap && !bit(&stream->ended, item);

		if (!bit(&stream->passes, item) || (!left && !open))
			continue;
		bit_set(&stream->marked, item, true);
		left -= left && !gap;
	}
}

/* A call that ends after the first marked call of its thread began, and began before it, is around
 * it: a line without its callers would stand at a depth that nothing explains. */
static int find_callers(struct stream *stream, const struct ep_event *event, struct open_call *call)
{
	struct thread *thread = thread_of(stream, event);

	if (event->kind != EP_EVENT_BEGIN && event->kind != EP_EVENT_END)
		return EP_OK;
	if (bit(&stream->marked, call->item)) {
		if (!thread->first && bit(&stream->ended, call->item))
			thread->first = call->item + 1;
	} else if (event->kind == EP_EVENT_END && call->item + 1 < thread->first &&
		   bit(&stream->passes, call->item)) {
		bit_set(&stream->marked, call->item, true);
	}
	return EP_OK;
}

static int prepare(struct stream *stream)
{
	const struct ep_selection *selection = stream->selection;
	int rc;

	stream->one_run = !selection->last_calls && !selection->min_duration &&
			  stream->window.since == 0 && !stream->sink->foresee;
	stream->runs = stream->one_run ? 1 : selection->last_calls ? 3 : 2;
	if (stream->one_run)
		return EP_OK;
	rc = run(stream, judge);
	if (rc || !selection->last_calls)
		return rc;
	mark_last(stream);
	return run(stream, find_callers);
}

/* ---- the run that counts ---- */

/* Of what is an item, as its runs before have found. */
static bool item_shown(const struct stream *stream, uint64_t item)
{
	return bit(stream->selection->last_calls ? &stream->marked : &stream->passes, item);
}

static bool is_shown(struct stream *stream, const struct ep_event *event,
		     const struct open_call *call)
{
	if (!stream->one_run)
		return item_shown(stream, call->item);
	return event->kind == EP_EVENT_GAP ? gap_passes(stream, event)
					   : begin_passes(stream, event);
}

/* A point is part of the call that it happened in. */
static bool point_shown(const struct stream *stream, const struct ep_event *event,
			const struct open_call *call)
{
	const struct ep_selection *selection = stream->selection;

	if (call && call->call == ALONE && !stream->one_run)
		return item_shown(stream, call->item);
	if (call && call->call == ALONE)
		call = NULL;
	if (!in_window(stream, event))
		return false;
	return call ? call->shown : !selection->functions.count && !selection->last_calls;
}

static int hand_out_begin(struct stream *stream, const struct ep_event *event,
			  const struct open_call *call)
{
	struct ep_event open;

	if (!stream->sink->foresee || bit(&stream->ended, call->item))
		return emit(stream, event);
	open = *event;
	open.flags |= EP_CALL_OPEN;
	return emit(stream, &open);
}

static int hand_out(struct stream *stream, const struct ep_event *event, struct open_call *call)
{
	if (event->kind == EP_EVENT_POINT) {
		if (!point_shown(stream, event, call))
			return EP_OK;
		stream->shown += call && call->call == ALONE;
		return emit(stream, event);
	}
	if (event->kind != EP_EVENT_END || is_whole_end(event)) {
		call->shown = is_shown(stream, event, call);
		stream->shown += call->shown && event->kind != EP_EVENT_GAP;
	}
	if (!call->shown)
		return EP_OK;
	return event->kind == EP_EVENT_BEGIN ? hand_out_begin(stream, event, call)
					     : emit(stream, event);
}

static int hand_out_open(struct stream *stream, struct thread *thread,
			 const struct ep_event *events, size_t count)
{
	size_t next = 0;
	int rc = EP_OK;

	for (size_t i = 0; !rc && i < count; i++) {
		struct open_call *call = find_next(thread, &next, events[i].call);
		struct ep_event open = events[i];

		open.kind = EP_EVENT_OPEN;
		if (call && call->shown)
			rc = emit(stream, &open);
	}
	return rc;
}

static int hand_out_spans(struct stream *stream, const struct ep_calls *calls)
{
	size_t count;
	const struct ep_event *spans = ep_calls_spans(calls, &count);
	int rc = EP_OK;

	if (stream->selection->functions.count || stream->selection->last_calls)
		return EP_OK;
	for (size_t i = 0; !rc && i < count; i++) {
		struct ep_event open = spans[i];

		open.kind = EP_EVENT_OPEN_SPAN;
		if (open.begin.best <= stream->window.until)
			rc = emit(stream, &open);
	}
	return rc;
}

static int finish_thread(struct stream *stream, size_t index)
{
	struct thread *thread = &stream->threads[index];
	const struct ep_calls *calls =
		ep_merge_calls(stream->merge, &stream->trace->threads[index]);
	const struct ep_event *events;
	size_t count;
	int rc = EP_OK;

	if (!calls)
		return EP_OK;
	for (size_t i = 0; !rc && (events = ep_calls_suspended(calls, i, &count)); i++)
		rc = hand_out_open(stream, thread, events, count);
	events = ep_calls_open(calls, &count);
	rc = rc ? rc : hand_out_open(stream, thread, events, count);
	return rc ? rc : hand_out_spans(stream, calls);
}

static void stream_deinit(struct stream *stream)
{
	ep_merge_destroy(stream->merge);
	for (size_t i = 0; i < stream->trace->thread_count; i++)
		ep_array_deinit(&stream->threads[i].open);
	free(stream->threads);
	ep_array_deinit(&stream->passes.words);
	ep_array_deinit(&stream->ended.words);
	ep_array_deinit(&stream->gaps.words);
	ep_array_deinit(&stream->marked.words);
	ep_array_deinit(&stream->matches);
}

static const struct ep_selection all;

static int stream_all(struct stream *stream, uint64_t *shown)
{
	const struct ep_trace *trace = stream->trace;
	int rc;

	stream->window = ep_selection_window(stream->selection, trace);
	stream->threads = ep_calloc(trace->thread_count, sizeof(*stream->threads));
	rc = prepare(stream);
	rc = rc ? rc : run(stream, hand_out);
	for (size_t i = 0; !rc && !stream->tail && i < trace->thread_count; i++)
		rc = finish_thread(stream, i);
	*shown = stream->shown;
	ep_progress_end();
	stream_deinit(stream);
	return rc;
}

int ep_stream(const struct ep_trace *trace, struct ep_names *names,
	      const struct ep_selection *selection, const struct ep_sink *sink, uint64_t *shown)
{
	struct stream stream = {.trace = trace,
				.names = names,
				.selection = selection ? selection : &all,
				.sink = sink};

	return sink->nested ? ep_nest_stream(trace, names, stream.selection, sink, shown)
			    : stream_all(&stream, shown);
}

int ep_stream_tail(const struct ep_trace *trace, struct ep_names *names,
		   const struct ep_selection *selection, const struct ep_tail *tail,
		   const struct ep_sink *sink, uint64_t *shown)
{
	struct stream stream = {
		.trace = trace, .names = names, .selection = selection, .tail = tail, .sink = sink};

	return stream_all(&stream, shown);
}

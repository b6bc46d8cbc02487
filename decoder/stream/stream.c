/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.c: everything that can be selected is an item with a number, in the order in which it
 * begins: a call, a gap. What only the end of a call tells, or the end of the trace, is found by
 * runs before the one that counts, which leave a few bits for each item.
 */
#include "decoder/stream/stream.h"

#include <stdlib.h>
#include <string.h>

struct bits {
	uint64_t *words;
	size_t count; /* words */
};

struct open_call {
	uint64_t call, item;
	uint32_t stack;
	bool shown;
};

#define ALONE UINT64_MAX /* as a call's number: a point in none */

struct strand { /* a thread */
	struct open_call *open;
	size_t count, room;
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
	struct strand *strands; /* as the trace's threads */
	uint64_t items;         /* so far, in this run */
	/* of the runs before the last */
	struct bits passes, ended, gaps, marked;
	char *matches; /* by id of a function: 'y', 'n', 0 not asked yet */
	size_t match_count;
	/* of the last run */
	bool one_run; /* a begin tells all */
	const struct ep_sink *sink;
	uint64_t shown;
};

typedef int (*visit_fn)(struct stream *stream, const struct ep_event *event, struct open_call *call,
			struct ep_err *err);

static int hand_out(struct stream *stream, const struct ep_event *event, struct open_call *call,
		    struct ep_err *err);

static bool gap_passes(const struct stream *stream, const struct ep_event *event)
{
	return event->begin.best <= stream->window.until && event->end.best >= stream->window.since;
}

static int out_of_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

/* ---- bits ---- */

static bool bit(const struct bits *bits, uint64_t at)
{
	return at / 64 < bits->count && bits->words[at / 64] >> at % 64 & 1;
}

static int bit_set(struct bits *bits, uint64_t at, bool value)
{
	size_t count = bits->count ? bits->count : 1024;
	uint64_t *grown;

	if (at / 64 >= bits->count) {
		while (at / 64 >= count)
			count *= 2;
		grown = realloc(bits->words, count * sizeof(*grown));
		if (!grown)
			return EP_E_MEMORY;
		memset(grown + bits->count, 0, (count - bits->count) * sizeof(*grown));
		bits->words = grown;
		bits->count = count;
	}
	bits->words[at / 64] &= ~(UINT64_C(1) << at % 64);
	bits->words[at / 64] |= (uint64_t)value << at % 64;
	return EP_OK;
}

/* ---- what is asked for ---- */

static bool wants(const struct ep_trace_thread *thread, void *context)
{
	const struct stream *stream = context;

	return ep_selection_wants_thread(stream->selection, thread);
}

/* Does the name fit? Asked once for each function. 0 or 1, or EP_E_MEMORY. */
static int matches(struct stream *stream, const struct ep_function *function)
{
	size_t count = stream->match_count ? stream->match_count : 256;
	char *grown;

	if (!stream->selection->functions.count)
		return 1;
	if (function->id >= stream->match_count) {
		while (count <= function->id)
			count *= 2;
		grown = realloc(stream->matches, count);
		if (!grown)
			return EP_E_MEMORY;
		memset(grown + stream->match_count, 0, count - stream->match_count);
		stream->matches = grown;
		stream->match_count = count;
	}
	if (!stream->matches[function->id])
		stream->matches[function->id] =
			ep_patterns_match(&stream->selection->functions, function->name) ? 'y'
											 : 'n';
	return stream->matches[function->id] == 'y';
}

/* As far as the begin of a call tells. 0 or 1, or EP_E_MEMORY. */
static int begin_passes(struct stream *stream, const struct ep_event *event)
{
	uint32_t depth = stream->selection->depth;

	if (event->begin.best > stream->window.until || (depth && event->depth >= depth))
		return 0;
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

static bool is_whole_end(const struct ep_event *event)
{
	return event->kind == EP_EVENT_END && event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY);
}

static struct open_call *find_open(struct strand *strand, uint64_t call)
{
	for (size_t i = strand->count; i > 0; i--)
		if (strand->open[i - 1].call == call)
			return &strand->open[i - 1];
	return NULL;
}

/* The same of calls that come in the order in which they lie there: each is behind the one before,
 * at *next or soon after. Recursion without end leaves hundreds of thousands open. */
static struct open_call *find_next(struct strand *strand, size_t *next, uint64_t call)
{
	struct open_call *found = NULL;

	for (size_t i = *next; i < strand->count && !found; i++)
		if (strand->open[i].call == call)
			found = &strand->open[i];
	if (!found)
		found = find_open(strand, call);
	if (found)
		*next = (size_t)(found - strand->open) + 1;
	return found;
}

/* The call that a point lies in: a switch happens on the stack that it leaves. */
static struct open_call *innermost(struct strand *strand)
{
	for (size_t i = strand->count; i > 0; i--)
		if (strand->open[i - 1].stack == strand->stack)
			return &strand->open[i - 1];
	return NULL;
}

static struct open_call *push_open(struct stream *stream, struct strand *strand, uint64_t call)
{
	size_t room = strand->room ? strand->room * 2 : 64;
	struct open_call *grown;

	if (strand->count == strand->room) {
		grown = realloc(strand->open, room * sizeof(*grown));
		if (!grown)
			return NULL;
		strand->open = grown;
		strand->room = room;
	}
	strand->open[strand->count] =
		(struct open_call){.call = call, .item = stream->items++, .stack = strand->stack};
	return &strand->open[strand->count++];
}

static void pop_open(struct strand *strand, struct open_call *call)
{
	struct open_call *end = strand->open + --strand->count;

	memmove(call, call + 1, (size_t)(end - call) * sizeof(*call));
}

/* A point belongs to the call that it happened in. What the program says where no call is open is
 * an item of its own. */
static int step_point(struct stream *stream, const struct ep_event *event, struct strand *strand,
		      visit_fn visit, struct ep_err *err)
{
	struct open_call alone = {.call = ALONE}, *call = innermost(strand);

	strand->stack = event->stack;
	if (call)
		return visit(stream, event, call, err);
	if (event->point < EP_POINT_NOTE)
		return visit(stream, event, NULL, err);
	alone.item = stream->items++;
	return visit(stream, event, &alone, err);
}

static int step(struct stream *stream, const struct ep_event *event, visit_fn visit,
		struct ep_err *err)
{
	struct strand *strand = &stream->strands[event->thread - stream->trace->threads];
	struct open_call one = {.call = event->call}, *call;
	int rc;

	if (event->kind == EP_EVENT_POINT)
		return step_point(stream, event, strand, visit, err);
	strand->stack = event->stack;
	if (event->kind == EP_EVENT_BEGIN) {
		call = push_open(stream, strand, event->call);
		return call ? visit(stream, event, call, err) : out_of_memory(err);
	}
	call = event->kind == EP_EVENT_END && !is_whole_end(event) ? find_open(strand, event->call)
								   : NULL;
	if (call) {
		rc = visit(stream, event, call, err);
		pop_open(strand, call);
		return rc;
	}
	one.item = stream->items++;
	return visit(stream, event, &one, err);
}

static int begin_run(struct stream *stream, struct ep_err *err)
{
	stream->items = stream->tail_at = 0;
	for (size_t i = 0; i < stream->trace->thread_count; i++)
		stream->strands[i].count = stream->strands[i].stack = 0;
	if (stream->tail)
		return EP_OK;
	ep_merge_destroy(stream->merge);
	stream->merge = NULL;
	return (stream->sink->wait ? ep_merge_create_waits : ep_merge_create)(
		&stream->merge, stream->trace, stream->names, wants, stream, err);
}

/* EP_OK, EP_END or EP_E_MEMORY. */
static int next_event(struct stream *stream, const struct ep_event **out)
{
	if (!stream->tail)
		return ep_merge_next(stream->merge, out);
	if (stream->tail_at == stream->tail->count)
		return EP_END;
	*out = &stream->tail->events[stream->tail_at++];
	return EP_OK;
}

/* It belongs to a call, and is no item of its own: told in the run that counts. */
static int step_wait(struct stream *stream, const struct ep_event *event, visit_fn visit,
		     struct ep_err *err)
{
	return visit == hand_out && gap_passes(stream, event)
		       ? stream->sink->wait(stream->sink->context, event, err)
		       : EP_OK;
}

/* Leaves the merge at its end, for what is open then. */
static int run(struct stream *stream, visit_fn visit, struct ep_err *err)
{
	const struct ep_event *event;
	int rc = begin_run(stream, err);

	while (!rc) {
		rc = next_event(stream, &event);
		if (rc < 0)
			return ep_fail(err, rc, 0, "%s", ep_error_text(rc));
		if (rc == EP_END)
			return EP_OK;
		rc = event->kind == EP_EVENT_WAIT ? step_wait(stream, event, visit, err)
						  : step(stream, event, visit, err);
	}
	return rc;
}

/* ---- the runs before ---- */

static int judge_end(struct stream *stream, const struct ep_event *event, uint64_t item)
{
	int passes = bit(&stream->passes, item);

	if (is_whole_end(event))
		passes = begin_passes(stream, event);
	if (passes < 0)
		return passes;
	passes = passes && end_passes(stream, event);
	if (bit_set(&stream->ended, item, true))
		return EP_E_MEMORY;
	return bit_set(&stream->passes, item, passes);
}

static int judge_alone(struct stream *stream, const struct ep_event *event, uint64_t item)
{
	bool passes = in_window(stream, event) && !stream->selection->functions.count;

	if (bit_set(&stream->ended, item, true))
		return EP_E_MEMORY;
	return bit_set(&stream->passes, item, passes);
}

static int judge(struct stream *stream, const struct ep_event *event, struct open_call *call,
		 struct ep_err *err)
{
	int rc = EP_OK;

	if (event->kind == EP_EVENT_BEGIN) {
		int passes = begin_passes(stream, event);

		rc = passes < 0 ? passes : bit_set(&stream->passes, call->item, passes);
	} else if (event->kind == EP_EVENT_END) {
		rc = judge_end(stream, event, call->item);
	} else if (event->kind == EP_EVENT_GAP) {
		rc = bit_set(&stream->gaps, call->item, true);
		rc = rc ? rc : bit_set(&stream->passes, call->item, gap_passes(stream, event));
	} else if (call && call->call == ALONE) {
		rc = judge_alone(stream, event, call->item);
	}
	return rc ? out_of_memory(err) : EP_OK;
}

/* The last calls that pass, what passes between them, and those that are open. */
static int mark_last(struct stream *stream, struct ep_err *err)
{
	uint64_t left = stream->selection->last_calls;

	for (uint64_t i = stream->items; i > 0; i--) {
		uint64_t item = i - 1;
		bool gap = bit(&stream->gaps, item);
		bool open = !gap && !bit(&stream->ended, item);

		if (!bit(&stream->passes, item) || (!left && !open))
			continue;
		if (bit_set(&stream->marked, item, true))
			return out_of_memory(err);
		left -= left && !gap;
	}
	return EP_OK;
}

/* A call that ends after the first marked call of its thread began, and began before it, is around
 * it: a line without its callers would stand at a depth that nothing explains. */
static int find_callers(struct stream *stream, const struct ep_event *event, struct open_call *call,
			struct ep_err *err)
{
	struct strand *strand = &stream->strands[event->thread - stream->trace->threads];

	if (event->kind != EP_EVENT_BEGIN && event->kind != EP_EVENT_END)
		return EP_OK;
	if (bit(&stream->marked, call->item)) {
		if (!strand->first && bit(&stream->ended, call->item))
			strand->first = call->item + 1;
		return EP_OK;
	}
	if (event->kind != EP_EVENT_END || call->item + 1 >= strand->first ||
	    !bit(&stream->passes, call->item))
		return EP_OK;
	return bit_set(&stream->marked, call->item, true) ? out_of_memory(err) : EP_OK;
}

static int prepare(struct stream *stream, struct ep_err *err)
{
	const struct ep_selection *selection = stream->selection;
	int rc;

	stream->one_run = !selection->last_calls && !selection->min_duration &&
			  stream->window.since == 0 && !stream->sink->foresee;
	if (stream->one_run)
		return EP_OK;
	rc = run(stream, judge, err);
	if (rc || !selection->last_calls)
		return rc;
	rc = mark_last(stream, err);
	return rc ? rc : run(stream, find_callers, err);
}

/* ---- the run that counts ---- */

/* 0 or 1, or EP_E_MEMORY. */
static int is_shown(struct stream *stream, const struct ep_event *event,
		    const struct open_call *call)
{
	if (!stream->one_run)
		return bit(stream->selection->last_calls ? &stream->marked : &stream->passes,
			   call->item);
	if (event->kind == EP_EVENT_GAP)
		return gap_passes(stream, event);
	return begin_passes(stream, event);
}

/* A point is part of the call that it happened in. */
static bool point_shown(const struct stream *stream, const struct ep_event *event,
			const struct open_call *call)
{
	const struct ep_selection *selection = stream->selection;

	if (call && call->call == ALONE && !stream->one_run)
		return bit(selection->last_calls ? &stream->marked : &stream->passes, call->item);
	if (call && call->call == ALONE)
		call = NULL;
	if (!in_window(stream, event))
		return false;
	return call ? call->shown : !selection->functions.count && !selection->last_calls;
}

static int hand_out_begin(struct stream *stream, const struct ep_event *event,
			  const struct open_call *call, struct ep_err *err)
{
	const struct ep_sink *sink = stream->sink;
	struct ep_event open = *event;

	if (!sink->foresee || bit(&stream->ended, call->item))
		return sink->event(sink->context, event, err);
	open.flags |= EP_CALL_OPEN;
	return sink->event(sink->context, &open, err);
}

static int hand_out_point(struct stream *stream, const struct ep_event *event,
			  const struct open_call *call, struct ep_err *err)
{
	const struct ep_sink *sink = stream->sink;

	if (!point_shown(stream, event, call))
		return EP_OK;
	stream->shown += call && call->call == ALONE;
	return sink->event(sink->context, event, err);
}

static int hand_out(struct stream *stream, const struct ep_event *event, struct open_call *call,
		    struct ep_err *err)
{
	const struct ep_sink *sink = stream->sink;
	int shown;

	if (event->kind == EP_EVENT_POINT)
		return hand_out_point(stream, event, call, err);
	if (event->kind != EP_EVENT_END || is_whole_end(event)) {
		shown = is_shown(stream, event, call);
		if (shown < 0)
			return out_of_memory(err);
		call->shown = shown;
		stream->shown += shown && event->kind != EP_EVENT_GAP;
	}
	if (!call->shown)
		return EP_OK;
	return event->kind == EP_EVENT_BEGIN ? hand_out_begin(stream, event, call, err)
					     : sink->event(sink->context, event, err);
}

static int hand_out_open(struct stream *stream, struct strand *strand,
			 const struct ep_event *events, size_t count, struct ep_err *err)
{
	const struct ep_sink *sink = stream->sink;
	size_t next = 0;
	int rc = EP_OK;

	for (size_t i = 0; !rc && i < count; i++) {
		struct open_call *call = find_next(strand, &next, events[i].call);

		if (call && call->shown)
			rc = sink->open(sink->context, &events[i], err);
	}
	return rc;
}

static int hand_out_spans(struct stream *stream, const struct ep_calls *calls, struct ep_err *err)
{
	const struct ep_sink *sink = stream->sink;
	size_t count;
	const struct ep_event *spans = ep_calls_spans(calls, &count);
	int rc = EP_OK;

	if (stream->selection->functions.count || stream->selection->last_calls)
		return EP_OK;
	for (size_t i = 0; !rc && i < count; i++)
		if (spans[i].begin.best <= stream->window.until)
			rc = sink->open(sink->context, &spans[i], err);
	return rc;
}

static int finish(struct stream *stream, struct ep_err *err)
{
	const struct ep_trace *trace = stream->trace;
	int rc = EP_OK;

	for (size_t i = 0; !rc && i < trace->thread_count; i++) {
		const struct ep_calls *calls = ep_merge_calls(stream->merge, &trace->threads[i]);
		const struct ep_event *events;
		size_t count;

		if (!calls)
			continue;
		for (size_t j = 0; !rc && (events = ep_calls_suspended(calls, j, &count)); j++)
			rc = hand_out_open(stream, &stream->strands[i], events, count, err);
		events = ep_calls_open(calls, &count);
		if (!rc)
			rc = hand_out_open(stream, &stream->strands[i], events, count, err);
		if (!rc)
			rc = hand_out_spans(stream, calls, err);
	}
	return rc;
}

static void stream_deinit(struct stream *stream)
{
	ep_merge_destroy(stream->merge);
	for (size_t i = 0; stream->strands && i < stream->trace->thread_count; i++)
		free(stream->strands[i].open);
	free(stream->strands);
	free(stream->passes.words);
	free(stream->ended.words);
	free(stream->gaps.words);
	free(stream->marked.words);
	free(stream->matches);
}

static int stream_all(struct stream *stream, uint64_t *shown, struct ep_err *err)
{
	const struct ep_selection all = {0};
	const struct ep_trace *trace = stream->trace;
	int rc;

	if (!stream->selection)
		stream->selection = &all;
	stream->window = ep_selection_window(stream->selection, trace);
	stream->strands = calloc(trace->thread_count + 1, sizeof(*stream->strands));
	rc = stream->strands ? prepare(stream, err) : out_of_memory(err);
	if (!rc)
		rc = run(stream, hand_out, err);
	if (!rc && stream->sink->open && !stream->tail)
		rc = finish(stream, err);
	*shown = stream->shown;
	stream_deinit(stream);
	return rc;
}

int ep_stream(const struct ep_trace *trace, struct ep_names *names,
	      const struct ep_selection *selection, const struct ep_sink *sink, uint64_t *shown,
	      struct ep_err *err)
{
	struct stream stream = {
		.trace = trace, .names = names, .selection = selection, .sink = sink};

	return stream_all(&stream, shown, err);
}

int ep_stream_tail(const struct ep_trace *trace, struct ep_names *names,
		   const struct ep_selection *selection, const struct ep_tail *tail,
		   const struct ep_sink *sink, uint64_t *shown, struct ep_err *err)
{
	struct stream stream = {
		.trace = trace, .names = names, .selection = selection, .tail = tail, .sink = sink};

	return stream_all(&stream, shown, err);
}

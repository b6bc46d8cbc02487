/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge.c: the events of several threads in one order, by a heap of each thread's next event. A
 * thread's own order is never changed.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/calls/calls.h"

struct source {
	struct ep_calls *calls;
	const struct ep_trace_thread *thread;
	const struct ep_event *next;
	uint64_t time; /* of next, and not less than any before */
};

struct ep_merge {
	struct source *sources; /* ascending serial */
	size_t count;
	struct source **heap; /* those that have a next event, first on top */
	size_t heap_count;
	bool waits; /* are told */
	bool due;   /* the top's event was handed out: it is to go on */
	int failed;
};

static uint64_t time_of(const struct ep_event *event)
{
	return event->kind == EP_EVENT_END ? event->end.best : event->begin.best;
}

static bool comes_first(const struct source *a, const struct source *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->thread->serial < b->thread->serial;
}

static void sink(struct ep_merge *merge, size_t at)
{
	struct source **heap = merge->heap, *moved = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= merge->heap_count)
			break;
		if (child + 1 < merge->heap_count && comes_first(heap[child + 1], heap[child]))
			child++;
		if (!comes_first(heap[child], moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static int advance(struct source *source)
{
	int result = ep_calls_next(source->calls, &source->next);

	if (result == EP_OK && time_of(source->next) > source->time)
		source->time = time_of(source->next);
	return result;
}

static int add_source(struct ep_merge *merge, const struct ep_trace *trace,
		      const struct ep_trace_thread *thread, struct ep_names *names,
		      struct ep_err *err)
{
	struct source *source = &merge->sources[merge->count];
	int result = ep_calls_create(&source->calls, trace, thread, names, err);

	if (result != EP_OK)
		return result;
	if (merge->waits)
		ep_calls_tell_waits(source->calls);
	source->thread = thread;
	merge->count++;
	result = advance(source);
	if (result < 0)
		return ep_fail(err, result, 0, "%s", ep_error_text(result));
	if (result == EP_OK)
		merge->heap[merge->heap_count++] = source;
	return EP_OK;
}

static int fill(struct ep_merge *merge, const struct ep_trace *trace, struct ep_names *names,
		bool (*want)(const struct ep_trace_thread *, void *), void *context,
		struct ep_err *err)
{
	int result = EP_OK;

	merge->sources = calloc(trace->thread_count + 1, sizeof(*merge->sources));
	merge->heap = calloc(trace->thread_count + 1, sizeof(*merge->heap));
	if (!merge->sources || !merge->heap)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	for (size_t i = 0; i < trace->thread_count && result == EP_OK; i++)
		if (!want || want(&trace->threads[i], context))
			result = add_source(merge, trace, &trace->threads[i], names, err);
	for (size_t i = merge->heap_count / 2; i-- > 0;)
		sink(merge, i);
	return result;
}

static int create(struct ep_merge **out, const struct ep_trace *trace, struct ep_names *names,
		  bool (*want)(const struct ep_trace_thread *, void *), void *context, bool waits,
		  struct ep_err *err)
{
	struct ep_merge *merge = calloc(1, sizeof(*merge));
	int result;

	if (!merge)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	merge->waits = waits;
	result = fill(merge, trace, names, want, context, err);
	if (result != EP_OK)
		ep_merge_destroy(merge);
	else
		*out = merge;
	return result;
}

int ep_merge_create(struct ep_merge **out, const struct ep_trace *trace, struct ep_names *names,
		    bool (*want)(const struct ep_trace_thread *, void *), void *context,
		    struct ep_err *err)
{
	return create(out, trace, names, want, context, false, err);
}

int ep_merge_create_waits(struct ep_merge **out, const struct ep_trace *trace,
			  struct ep_names *names,
			  bool (*want)(const struct ep_trace_thread *, void *), void *context,
			  struct ep_err *err)
{
	return create(out, trace, names, want, context, true, err);
}

void ep_merge_destroy(struct ep_merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->count; i++)
		ep_calls_destroy(merge->sources[i].calls);
	free(merge->sources);
	free(merge->heap);
	free(merge);
}

/* The thread whose event was handed out last goes on: the event is borrowed until now. */
static int step(struct ep_merge *merge)
{
	int result = advance(merge->heap[0]);

	merge->due = false;
	if (result == EP_END)
		merge->heap[0] = merge->heap[--merge->heap_count];
	if (result >= 0 && merge->heap_count > 1)
		sink(merge, 0);
	return result < 0 ? result : EP_OK;
}

int ep_merge_next(struct ep_merge *merge, const struct ep_event **out)
{
	if (!merge->failed && merge->due)
		merge->failed = step(merge);
	if (merge->failed)
		return merge->failed;
	if (merge->heap_count == 0)
		return EP_END;
	merge->due = true;
	*out = merge->heap[0]->next;
	return EP_OK;
}

const struct ep_calls *ep_merge_calls(const struct ep_merge *merge,
				      const struct ep_trace_thread *thread)
{
	size_t low = 0, high = merge->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (merge->sources[middle].thread->serial < thread->serial)
			low = middle + 1;
		else
			high = middle;
	}
	return low < merge->count && merge->sources[low].thread == thread
		       ? merge->sources[low].calls
		       : NULL;
}

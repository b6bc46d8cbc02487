/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge.c: the events of several threads in one order, by a heap of each thread's next event. A
 * thread's own order is never changed.
 */
#include "decoder/stream/merge.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"

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
	bool due; /* the top's event was handed out: it is to go on */
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

static void sift_down(struct ep_merge *merge, size_t at)
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

/* False: there is no more of it. */
static bool advance(struct source *source)
{
	if (ep_calls_next(source->calls, &source->next) != EP_OK)
		return false;
	if (time_of(source->next) > source->time)
		source->time = time_of(source->next);
	return true;
}

static void add_source(struct ep_merge *merge, struct ep_calls *calls,
		       const struct ep_trace_thread *thread)
{
	struct source *source = &merge->sources[merge->count++];

	source->calls = calls;
	source->thread = thread;
	if (advance(source))
		merge->heap[merge->heap_count++] = source;
}

struct ep_merge *ep_merge_create(const struct ep_trace *trace, struct ep_names *names, bool waits,
				 bool (*want)(const struct ep_trace_thread *, void *),
				 void *context)
{
	struct ep_merge *merge = ep_calloc(1, sizeof(*merge));

	merge->sources = ep_calloc(trace->thread_count, sizeof(*merge->sources));
	merge->heap = ep_calloc(trace->thread_count, sizeof(*merge->heap));
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];
		struct ep_calls *calls;

		if (want && !want(thread, context))
			continue;
		calls = ep_calls_create(trace, thread, names);
		if (waits)
			ep_calls_with_waits(calls);
		add_source(merge, calls, thread);
	}
	for (size_t i = merge->heap_count / 2; i-- > 0;)
		sift_down(merge, i);
	return merge;
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

uint64_t ep_merge_blocks_left(const struct ep_merge *merge)
{
	uint64_t left = 0;

	for (size_t i = 0; i < merge->count; i++)
		left += ep_calls_blocks_left(merge->sources[i].calls);
	return left;
}

int ep_merge_next(struct ep_merge *merge, const struct ep_event **out)
{
	/* The thread whose event was handed out last goes on: the event is borrowed until now. */
	if (merge->due) {
		if (!advance(merge->heap[0]))
			merge->heap[0] = merge->heap[--merge->heap_count];
		if (merge->heap_count > 1)
			sift_down(merge, 0);
	}
	merge->due = merge->heap_count > 0;
	if (!merge->due)
		return EP_END;
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

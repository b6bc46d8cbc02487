/* SPDX-License-Identifier: BSD-2-Clause */
/* calllist.c: gathers the events of a merge into calls with two ends. */
#include "decoder/calllist.h"

#include <stdlib.h>

/* Which call of the list is a thread's call number N: open ones only, by a
 * stack for each thread. */
struct open_calls {
	uint32_t *stack; /* indices into the list */
	size_t count, room;
};

struct gathering {
	struct ep_call_list *list;
	size_t call_room, moment_room;
	struct open_calls *threads; /* as the trace's */
	const struct ep_trace *trace;
};

/* Room for one more; false: out of memory. */
static bool make_room(void **array, size_t count, size_t *room, size_t size)
{
	size_t wanted = *room ? *room * 2 : 1024;
	void *more;

	if (count < *room)
		return true;
	more = realloc(*array, wanted * size);
	if (!more)
		return false;
	*array = more;
	*room = wanted;
	return true;
}

static bool add_moment(struct gathering *g, size_t call, bool end)
{
	struct ep_call_list *list = g->list;

	if (!make_room((void **)&list->moments, list->moment_count,
		       &g->moment_room, sizeof(*list->moments)))
		return false;
	list->moments[list->moment_count++] =
		(struct ep_moment){(uint32_t)call, end};
	return true;
}

static struct ep_call *add_call(struct gathering *g,
				const struct ep_event *event)
{
	struct ep_call_list *list = g->list;

	if (list->count == UINT32_MAX ||
	    !make_room((void **)&list->calls, list->count, &g->call_room,
		       sizeof(*list->calls)))
		return NULL;
	list->calls[list->count] = (struct ep_call){
		.thread = event->thread,
		.function = event->function,
		.address = event->address,
		.depth = event->depth,
		.flags = event->flags,
		.begin = event->begin,
		.end = event->end,
		.gap = event->gap,
		.lost = event->lost,
		.ended = event->kind != EP_EVENT_BEGIN,
	};
	return &list->calls[list->count++];
}

static bool begin_call(struct gathering *g, struct open_calls *open,
		       const struct ep_event *event)
{
	if (!add_call(g, event) ||
	    !make_room((void **)&open->stack, open->count, &open->room,
		       sizeof(*open->stack)))
		return false;
	open->stack[open->count++] = (uint32_t)(g->list->count - 1);
	return add_moment(g, g->list->count - 1, false);
}

static bool end_call(struct gathering *g, struct open_calls *open,
		     const struct ep_event *event)
{
	struct ep_call *call;
	uint32_t index;

	if (event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY) || !open->count)
		return add_call(g, event) &&
		       add_moment(g, g->list->count - 1, true);
	index = open->stack[--open->count];
	call = &g->list->calls[index];
	call->ended = true;
	call->end = event->end;
	call->flags |= event->flags;
	return add_moment(g, index, true);
}

static bool take(struct gathering *g, const struct ep_event *event)
{
	struct open_calls *open =
		&g->threads[event->thread - g->trace->threads];

	if (event->kind == EP_EVENT_BEGIN)
		return begin_call(g, open, event);
	if (event->kind == EP_EVENT_END)
		return end_call(g, open, event);
	if (event->kind == EP_EVENT_POINT)
		return true;
	return add_call(g, event) && add_moment(g, g->list->count - 1, false);
}

static int gather(struct gathering *g, struct ep_merge *merge)
{
	const struct ep_event *event;
	int result;

	while ((result = ep_merge_next(merge, &event)) == EP_OK)
		if (!take(g, event))
			return EP_E_MEMORY;
	return result == EP_END ? EP_OK : result;
}

int ep_call_list_create(struct ep_call_list *out, const struct ep_trace *trace,
			struct ep_names *names,
			bool (*want)(const struct ep_trace_thread *, void *),
			void *context, struct ep_err *err)
{
	struct gathering g = {.list = out, .trace = trace};
	struct ep_merge *merge = NULL;
	int result;

	*out = (struct ep_call_list){0};
	g.threads = calloc(trace->thread_count + 1, sizeof(*g.threads));
	if (!g.threads)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	result = ep_merge_create(&merge, trace, names, want, context, err);
	if (!result)
		result = gather(&g, merge);
	ep_merge_destroy(merge);
	for (size_t i = 0; i < trace->thread_count; i++)
		free(g.threads[i].stack);
	free(g.threads);
	if (!result)
		return EP_OK;
	ep_call_list_deinit(out);
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

void ep_call_list_deinit(struct ep_call_list *list)
{
	free(list->calls);
	free(list->moments);
	*list = (struct ep_call_list){0};
}

int64_t ep_call_duration(const struct ep_trace *trace,
			 const struct ep_call *call)
{
	return call->ended
		       ? ep_trace_ns(trace, call->begin.best, call->end.best)
		       : 0;
}

bool ep_call_approximate(const struct ep_call *call)
{
	return !call->begin.exact || (call->ended && !call->end.exact);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* open_calls.c: one pass over a thread's history, two where it turns out that one could not judge
 * all of it. */
#include "decoder/calls/open_calls.h"

#include "coredump/util/alloc.h"

/* ---- functions that were called ---- */

static size_t module_of(const struct ep_open_calls *open, const struct ep_function *function)
{
	const struct ep_trace *trace = open->trace;

	return trace && function->in >= trace->modules &&
			       function->in < trace->modules + trace->module_count
		       ? (size_t)(function->in - trace->modules)
		       : SIZE_MAX;
}

static void see(struct ep_open_calls *open, const struct ep_function *function)
{
	size_t module = module_of(open, function);

	if (module != SIZE_MAX)
		open->seen_modules[module] = true;
	while (open->seen.count <= function->id)
		ep_array_add(&open->seen);
	open->seen.list[function->id] = true;
}

bool ep_open_calls_saw(const struct ep_open_calls *open, const struct ep_function *function)
{
	return function->id < open->seen.count && open->seen.list[function->id];
}

bool ep_open_calls_saw_module(const struct ep_open_calls *open, const struct ep_function *function)
{
	size_t module = module_of(open, function);

	return module != SIZE_MAX && open->seen_modules && open->seen_modules[module];
}

/* ---- events ---- */

struct reading {
	struct ep_open_calls *open;
	struct ep_calls *calls;
};

static void note_gap(struct ep_open_calls *open, const struct ep_event *gap)
{
	for (unsigned kind = 0; kind < EP_OPEN_CALLS_GAPS; kind++)
		if (gap->gap & 1u << kind)
			open->gaps[kind] = gap->end.best;
}

static const struct ep_function *innermost(const struct ep_calls *calls)
{
	size_t count;
	const struct ep_event *open = ep_calls_open(calls, &count);

	return count ? open[count - 1].function : NULL;
}

/* A sink. */
static int open_calls_event(void *context, const struct ep_event *event,
			    const struct ep_nest_thread *thread)
{
	const struct reading *reading = context;
	struct ep_open_calls *open = reading->open;
	bool ended = event->kind == EP_EVENT_END && !(event->flags & EP_CALL_ABANDONED);

	open->returned = ended ? event->function : NULL;
	if (event->kind == EP_EVENT_GAP)
		note_gap(open, event);
	if (event->kind == EP_EVENT_POINT) {
		open->other_stacks |= event->point == EP_POINT_STACK && *event->text;
		ep_exception_note(&open->exception, event, innermost(reading->calls));
	}
	return ep_tail_event(&open->tail, event, thread);
}

/* ---- what is open at the end ---- */

static void copy_calls(struct ep_open_calls *open, const struct ep_calls *calls)
{
	const struct ep_event *list = ep_calls_open(calls, &open->count);

	open->outermost_known = ep_calls_outermost_known(calls);
	open->calls = ep_calloc(open->count, sizeof(*open->calls));
	if (open->count)
		memcpy(open->calls, list, open->count * sizeof(*open->calls));
}

static void copy_spans(struct ep_open_calls *open, const struct ep_calls *calls)
{
	size_t count;
	const struct ep_event *list = ep_calls_spans(calls, &count);

	open->spans = ep_calloc(count, sizeof(*open->spans));
	for (size_t i = count; i-- > 0;)
		open->spans[open->span_count++] =
			(struct ep_open_calls_span){ep_strdup(list[i].text), list[i].begin};
}

/* ---- the whole ---- */

/* Of a pass that may be the only one. False: its judgements may be wrong. */
static bool read_history(struct ep_open_calls *open, struct ep_calls *calls, bool once)
{
	struct reading reading = {open, calls};
	const struct ep_sink sink = {.context = &reading, .event = open_calls_event};
	const struct ep_function *called;
	uint32_t too_deep = 0;
	size_t next = 0;

	open->known = true;
	open->seen_modules = ep_calloc(open->trace->module_count, sizeof(*open->seen_modules));
	ep_tail_init(&open->tail, calls);
	ep_calls_pass_over(calls, EP_TAIL_BLOCKS);
	ep_calls_read(calls, &sink);
	while ((called = ep_calls_called(calls, &next)))
		see(open, called);
	if (once && !ep_calls_once_held(calls, &too_deep))
		return false;
	copy_calls(open, calls);
	copy_spans(open, calls);
	ep_tail_finish(&open->tail, too_deep);
	return true;
}

static bool read_thread(struct ep_open_calls *open, const struct ep_trace *trace,
			const struct ep_trace_thread *thread, struct ep_names *names, bool once)
{
	struct ep_calls *calls =
		(once ? ep_calls_create_once : ep_calls_create)(trace, thread, names);
	bool held;

	*open = (struct ep_open_calls){.thread = thread, .trace = trace};
	held = read_history(open, calls, once);
	ep_calls_destroy(calls);
	if (!held)
		ep_open_calls_deinit(open);
	return held;
}

void ep_open_calls_init(struct ep_open_calls *open, const struct ep_trace *trace,
			const struct ep_trace_thread *thread, struct ep_names *names)
{
	*open = (struct ep_open_calls){.thread = thread};
	if (thread && trace && thread->block_count &&
	    !read_thread(open, trace, thread, names, true))
		read_thread(open, trace, thread, names, false);
}

void ep_open_calls_drop_history(struct ep_open_calls *open)
{
	ep_array_deinit(&open->seen);
	free(open->seen_modules);
	open->seen_modules = NULL;
	ep_tail_deinit(&open->tail);
}

void ep_open_calls_deinit(struct ep_open_calls *open)
{
	for (size_t i = 0; i < open->span_count; i++)
		free(open->spans[i].name);
	free(open->spans);
	free(open->calls);
	free(open->exception.type);
	ep_open_calls_drop_history(open);
	memset(open, 0, sizeof(*open));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* open_calls.c: one pass over a thread's history, two where it turns out that one could not judge
 * all of it. */
#include "decoder/calls/open_calls.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

/* ---- functions that were called ---- */

static size_t module_of(const struct ep_open_calls *flight, const struct ep_function *function)
{
	const struct ep_trace *trace = flight->trace;

	return trace && function->in >= trace->modules &&
			       function->in < trace->modules + trace->module_count
		       ? (size_t)(function->in - trace->modules)
		       : SIZE_MAX;
}

static int see(struct ep_open_calls *flight, const struct ep_function *function)
{
	size_t at = function->id / 8, module = module_of(flight, function);

	if (module != SIZE_MAX)
		flight->seen_modules[module] = true;
	if (at >= flight->seen_size) {
		size_t size = 2 * at + 64;
		uint8_t *grown = realloc(flight->seen, size);

		if (!grown)
			return EP_E_MEMORY;
		memset(grown + flight->seen_size, 0, size - flight->seen_size);
		flight->seen = grown;
		flight->seen_size = size;
	}
	flight->seen[at] |= (uint8_t)(1u << function->id % 8);
	return EP_OK;
}

bool ep_open_calls_saw(const struct ep_open_calls *flight, const struct ep_function *function)
{
	return function->id / 8 < flight->seen_size &&
	       flight->seen[function->id / 8] & 1u << function->id % 8;
}

bool ep_open_calls_saw_module(const struct ep_open_calls *flight,
			      const struct ep_function *function)
{
	size_t module = module_of(flight, function);

	return module != SIZE_MAX && flight->seen_modules && flight->seen_modules[module];
}

/* ---- events ---- */

static void note_gap(struct ep_open_calls *flight, const struct ep_event *gap)
{
	for (unsigned kind = 0; kind < EP_OPEN_CALLS_GAPS; kind++)
		if (gap->gap & 1u << kind)
			flight->gaps[kind] = gap->end.best;
}

static const struct ep_function *innermost(const struct ep_calls *calls)
{
	size_t count;
	const struct ep_event *open = ep_calls_open(calls, &count);

	return count ? open[count - 1].function : NULL;
}

static int note_point(struct ep_open_calls *flight, const struct ep_calls *calls,
		      const struct ep_event *event)
{
	if (event->point == EP_POINT_STACK && *event->text)
		flight->other_stacks = true;
	return ep_exception_note(&flight->thrown, event, innermost(calls));
}

static int note_event(struct ep_open_calls *flight, const struct ep_calls *calls,
		      const struct ep_event *event)
{
	bool ended = event->kind == EP_EVENT_END && !(event->flags & EP_CALL_ABANDONED);

	flight->returned = ended ? event->function : NULL;
	if (event->kind == EP_EVENT_GAP)
		note_gap(flight, event);
	return event->kind == EP_EVENT_POINT ? note_point(flight, calls, event) : EP_OK;
}

/* ---- what is open at the end ---- */

static int copy_calls(struct ep_open_calls *flight, const struct ep_calls *calls)
{
	size_t count;
	const struct ep_event *open = ep_calls_open(calls, &count);

	flight->outermost_known = ep_calls_outermost_known(calls);
	flight->calls = calloc(count + 1, sizeof(*flight->calls));
	if (!flight->calls)
		return EP_E_MEMORY;
	if (count)
		memcpy(flight->calls, open, count * sizeof(*flight->calls));
	flight->count = count;
	return EP_OK;
}

static int copy_spans(struct ep_open_calls *flight, const struct ep_calls *calls)
{
	size_t count;
	const struct ep_event *open = ep_calls_spans(calls, &count);

	flight->spans = calloc(count + 1, sizeof(*flight->spans));
	if (!flight->spans)
		return EP_E_MEMORY;
	for (size_t i = count; i-- > 0;) {
		struct ep_open_calls_span *span = &flight->spans[flight->span_count];

		span->name = strdup(open[i].text);
		if (!span->name)
			return EP_E_MEMORY;
		span->since = open[i].begin;
		flight->span_count++;
	}
	return EP_OK;
}

static int read_events(struct ep_open_calls *flight, struct ep_calls *calls)
{
	const struct ep_function *called;
	const struct ep_event *event;
	size_t next = 0;
	int rc;

	ep_calls_pass_over(calls, EP_TAIL_BLOCKS);
	while ((rc = ep_calls_next(calls, &event)) == EP_OK)
		if (note_event(flight, calls, event) || ep_tail_take(&flight->tail, calls, event))
			return EP_E_MEMORY;
	while ((called = ep_calls_called(calls, &next)))
		if (see(flight, called))
			return EP_E_MEMORY;
	return rc == EP_END ? EP_OK : rc;
}

static int read_end(struct ep_open_calls *flight, const struct ep_calls *calls, uint32_t too_deep)
{
	int rc = copy_calls(flight, calls);

	rc = rc ? rc : copy_spans(flight, calls);
	return rc ? rc : ep_tail_finish(&flight->tail, calls, too_deep);
}

/* ---- the whole ---- */

static int begin(struct ep_open_calls *flight, const struct ep_trace *trace,
		 const struct ep_trace_thread *thread)
{
	memset(flight, 0, sizeof(*flight));
	flight->thread = thread;
	flight->known = true;
	flight->trace = trace;
	ep_tail_init(&flight->tail);
	flight->seen_modules = calloc(trace->module_count + 1, sizeof(*flight->seen_modules));
	return flight->seen_modules ? EP_OK : EP_E_MEMORY;
}

/* EP_END: it has to be read with a plan. */
static int read_once(struct ep_open_calls *flight, const struct ep_trace *trace,
		     const struct ep_trace_thread *thread, struct ep_names *names,
		     struct ep_err *err)
{
	struct ep_calls *calls;
	uint32_t too_deep;
	int rc = ep_calls_create_once(&calls, trace, thread, names, err);

	if (rc)
		return rc;
	rc = begin(flight, trace, thread);
	rc = rc ? rc : read_events(flight, calls);
	if (!rc)
		rc = ep_calls_once_held(calls, &too_deep) ? read_end(flight, calls, too_deep)
							  : EP_END;
	ep_calls_destroy(calls);
	if (rc)
		ep_open_calls_deinit(flight);
	return rc < 0 ? no_memory(err) : rc;
}

static int read_planned(struct ep_open_calls *flight, const struct ep_trace *trace,
			const struct ep_trace_thread *thread, struct ep_names *names,
			struct ep_err *err)
{
	struct ep_calls *calls;
	int rc = ep_calls_create(&calls, trace, thread, names, err);

	if (rc)
		return rc;
	rc = begin(flight, trace, thread);
	rc = rc ? rc : read_events(flight, calls);
	rc = rc ? rc : read_end(flight, calls, 0);
	ep_calls_destroy(calls);
	if (rc == EP_OK)
		return EP_OK;
	ep_open_calls_deinit(flight);
	return no_memory(err);
}

int ep_open_calls_init(struct ep_open_calls *flight, const struct ep_trace *trace,
		       const struct ep_trace_thread *thread, struct ep_names *names,
		       struct ep_err *err)
{
	int rc;

	memset(flight, 0, sizeof(*flight));
	flight->thread = thread;
	if (!thread || !trace || thread->block_count == 0)
		return EP_OK;
	rc = read_once(flight, trace, thread, names, err);
	return rc == EP_END ? read_planned(flight, trace, thread, names, err) : rc;
}

void ep_open_calls_deinit(struct ep_open_calls *flight)
{
	for (size_t i = 0; i < flight->span_count; i++)
		free(flight->spans[i].name);
	free(flight->spans);
	free(flight->calls);
	free(flight->thrown.type);
	free(flight->seen);
	free(flight->seen_modules);
	ep_tail_deinit(&flight->tail);
	memset(flight, 0, sizeof(*flight));
}

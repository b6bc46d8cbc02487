/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.c: adds up what placing.c decides: a slice belongs to the innermost call that is selected
 * among those that were certainly open.
 */
#include "decoder/stats/waits.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "decoder/calls/placing.h"
#include "decoder/stream/selection.h"

struct frame {
	uint64_t call;
	const struct ep_function *function;
};

/* What is open in a thread. */
struct open_frames {
	EP_ARRAY(struct frame) open;
};

struct waiting {
	struct ep_waits *waits;
	const struct ep_trace *trace;
	struct ep_window window;
	bool all;                    /* calls are selected */
	struct open_frames *threads; /* as the trace's */
};

/* ---- sites ---- */

static struct ep_wait *site_of(struct waiting *w, const struct ep_function *function,
			       const struct ep_function *caller, bool inside)
{
	struct ep_waits *waits = w->waits;
	struct ep_wait *wait;

	for (size_t i = 0; i < waits->count; i++)
		if (waits->list[i]->function == function && waits->list[i]->caller == caller &&
		    waits->list[i]->inside == inside)
			return waits->list[i];
	wait = ep_calloc(1, sizeof(*wait));
	wait->function = function;
	wait->caller = caller;
	wait->inside = inside;
	ep_array_push(waits, wait);
	return wait;
}

static bool same_waker(const struct ep_slice *a, const struct ep_slice *b)
{
	return a->waker_kind == b->waker_kind && a->waker == b->waker;
}

/* One more than are distinguished takes the place of the least. */
static void add_waker(struct ep_wait *wait, const struct ep_slice *slice, int64_t ns)
{
	size_t at = 0;

	while (at < wait->waker_count && !same_waker(&wait->wakers[at].slice, slice))
		at++;
	if (at == EP_WAIT_WAKERS)
		at--;
	if (at == wait->waker_count || !same_waker(&wait->wakers[at].slice, slice))
		wait->wakers[at] = (struct ep_wait_waker){.slice = *slice};
	if (at == wait->waker_count)
		wait->waker_count++;
	wait->wakers[at].count++;
	wait->wakers[at].total += ns;
	for (; at > 0 && wait->wakers[at - 1].total < wait->wakers[at].total; at--) {
		struct ep_wait_waker other = wait->wakers[at];

		wait->wakers[at] = wait->wakers[at - 1];
		wait->wakers[at - 1] = other;
	}
}

/* The call that it belongs to, or is somewhere inside of: a function and its caller, among what is
 * selected. */
struct owner {
	const struct ep_function *function, *caller;
	bool inside;
};

static void go_inside(struct owner *owner, const struct ep_function *function)
{
	owner->caller = owner->function;
	owner->function = function;
}

/* The calls that are open are in order of their numbers, but for those of which only the return is
 * known, and these are not among them. */
static struct owner owner_of(const struct waiting *w, const struct open_frames *thread,
			     const struct ep_wait_place *place)
{
	struct owner owner = {.inside = !place->whole};
	const struct frame *frames = thread->open.list;
	size_t count = thread->open.count;

	while (count > 0 && (place->call == EP_NO_CALL || frames[count - 1].call > place->call))
		count--;
	if (count > 1)
		go_inside(&owner, frames[count - 2].function);
	if (count > 0)
		go_inside(&owner, frames[count - 1].function);
	for (unsigned i = 0; w->all && i < place->path_count; i++)
		go_inside(&owner, place->path[i]);
	/* In this function, by whatever way it was called. */
	if (w->all && owner.inside && place->innermost)
		return (struct owner){.function = place->innermost};
	/* What is not selected is not distinguished. */
	if (!w->all)
		owner.inside |= place->path_count > 0;
	return owner;
}

static void add_slice(struct waiting *w, const struct open_frames *thread,
		      const struct ep_wait_place *place)
{
	const struct ep_slice *slice = place->slice;
	struct owner owner = owner_of(w, thread, place);
	int64_t ns = ep_trace_ns(w->trace, slice->begin, slice->end);
	struct ep_wait *wait;

	if (slice->state == EP_SLICE_READY)
		w->waits->ready += ns;
	if (slice->state != EP_SLICE_BLOCKED)
		return;
	wait = site_of(w, owner.function, owner.caller, owner.inside);
	wait->count++;
	wait->open += slice->open;
	wait->total += ns;
	w->waits->total += ns;
	w->waits->inside += owner.inside ? ns : 0;
	if (ns > wait->longest)
		wait->longest = ns;
	if (slice->waker_kind != EP_WAKER_UNKNOWN)
		add_waker(wait, slice, ns);
}

/* ---- the sink ---- */

static void pop(struct open_frames *thread, uint64_t call)
{
	struct frame *list = thread->open.list;

	for (size_t i = thread->open.count; i > 0; i--)
		if (list[i - 1].call == call) {
			memmove(&list[i - 1], &list[i], (thread->open.count - i) * sizeof(*list));
			thread->open.count--;
			return;
		}
}

static int waits_event(void *context, const struct ep_event *event,
		       const struct ep_nest_thread *none)
{
	struct waiting *w = context;
	struct open_frames *thread = &w->threads[event->thread - w->trace->threads];
	const struct ep_slice *slice;

	(void)none;
	if (event->kind == EP_EVENT_BEGIN)
		ep_array_push(&thread->open, ((struct frame){event->call, event->function}));
	if (event->kind == EP_EVENT_END)
		pop(thread, event->call);
	if (event->kind != EP_EVENT_WAIT)
		return EP_OK;
	slice = event->place->slice;
	/* A process may wait for the drain to begin. */
	if (slice->begin >= w->window.since &&
	    (!slice->waker || slice->waker != w->trace->schedule->head.tid))
		add_slice(w, thread, event->place);
	return EP_OK;
}

static int compare(const void *a, const void *b)
{
	const struct ep_wait *x = *(struct ep_wait *const *)a;
	const struct ep_wait *y = *(struct ep_wait *const *)b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->function && y->function ? strcmp(x->function->name, y->function->name)
					  : !x->function - !y->function;
}

void ep_waits_create(struct ep_waits *waits, const struct ep_trace *trace, struct ep_names *names,
		     const struct ep_selection *selection)
{
	const struct ep_selection all = {0};
	struct waiting w = {
		.waits = waits,
		.trace = trace,
		.window = ep_selection_window(selection ? selection : &all, trace),
		.all = !ep_selection_leaves_out(selection),
		.threads = ep_calloc(trace->thread_count, sizeof(*w.threads)),
	};
	const struct ep_sink sink = {.context = &w, .event = waits_event, .waits = true};
	uint64_t shown;

	*waits = (struct ep_waits){0};
	ep_stream(trace, names, selection, &sink, &shown);
	for (size_t i = 0; i < trace->thread_count; i++)
		ep_array_deinit(&w.threads[i].open);
	free(w.threads);
	ep_array_sort(waits, compare);
}

void ep_waits_deinit(struct ep_waits *waits)
{
	for (size_t i = 0; i < waits->count; i++)
		free(waits->list[i]);
	free(waits->list);
	*waits = (struct ep_waits){0};
}

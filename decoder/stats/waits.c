/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.c: adds up what placing.c decides: a slice belongs to the innermost call that is selected
 * among those that were certainly open.
 */
#include "decoder/stats/waits.h"

#include <stdlib.h>
#include <string.h>

#include "decoder/calls/placing.h"
#include "decoder/stream/selection.h"

struct frame {
	uint64_t call;
	const struct ep_function *function;
};

struct strand { /* a thread */
	struct frame *frames;
	size_t count, room;
};

struct waiting {
	struct ep_waits *waits;
	const struct ep_trace *trace;
	struct ep_window window;
	bool all;               /* calls are selected */
	struct strand *strands; /* as the trace's threads */
	size_t room;
};

static int out_of_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

/* ---- sites ---- */

static struct ep_wait *site_of(struct waiting *w, const struct ep_function *function,
			       const struct ep_function *caller, bool inside)
{
	struct ep_waits *waits = w->waits;
	size_t room = w->room ? 2 * w->room : 64;
	struct ep_wait **grown, *wait;

	for (size_t i = 0; i < waits->count; i++)
		if (waits->list[i]->function == function && waits->list[i]->caller == caller &&
		    waits->list[i]->inside == inside)
			return waits->list[i];
	if (waits->count == w->room) {
		grown = reallocarray(waits->list, room, sizeof(*grown));
		if (!grown)
			return NULL;
		waits->list = grown;
		w->room = room;
	}
	wait = calloc(1, sizeof(*wait));
	if (!wait)
		return NULL;
	wait->function = function;
	wait->caller = caller;
	wait->inside = inside;
	return waits->list[waits->count++] = wait;
}

static bool same_waker(const struct ep_slice *a, const struct ep_slice *b)
{
	return a->waker_kind == b->waker_kind && a->waker == b->waker;
}

/* One more than are told apart takes the place of the least. */
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
static struct owner owner_of(const struct waiting *w, const struct strand *strand,
			     const struct ep_wait_place *place)
{
	struct owner owner = {.inside = !place->whole};
	size_t count = strand->count;

	while (count > 0 &&
	       (place->call == EP_NO_CALL || strand->frames[count - 1].call > place->call))
		count--;
	if (count > 1)
		go_inside(&owner, strand->frames[count - 2].function);
	if (count > 0)
		go_inside(&owner, strand->frames[count - 1].function);
	for (unsigned i = 0; w->all && i < place->path_count; i++)
		go_inside(&owner, place->path[i]);
	/* In this function, by whatever way it was called. */
	if (w->all && owner.inside && place->innermost)
		return (struct owner){.function = place->innermost};
	/* What is not selected is not told apart. */
	if (!w->all)
		owner.inside |= place->path_count > 0;
	return owner;
}

static int add_slice(struct waiting *w, const struct strand *strand,
		     const struct ep_wait_place *place, struct ep_err *err)
{
	const struct ep_slice *slice = place->slice;
	struct owner owner = owner_of(w, strand, place);
	int64_t ns = ep_trace_ns(w->trace, slice->begin, slice->end);
	struct ep_wait *wait;

	if (slice->state == EP_SLICE_READY)
		w->waits->ready += ns;
	if (slice->state != EP_SLICE_BLOCKED)
		return EP_OK;
	wait = site_of(w, owner.function, owner.caller, owner.inside);
	if (!wait)
		return out_of_memory(err);
	wait->count++;
	wait->open += slice->open;
	wait->total += ns;
	w->waits->total += ns;
	w->waits->inside += owner.inside ? ns : 0;
	if (ns > wait->longest)
		wait->longest = ns;
	if (slice->waker_kind != EP_WAKER_UNKNOWN)
		add_waker(wait, slice, ns);
	return EP_OK;
}

/* ---- the sink ---- */

static int push(struct strand *strand, const struct ep_event *event, struct ep_err *err)
{
	size_t room = strand->room ? 2 * strand->room : 64;
	struct frame *grown;

	if (strand->count == strand->room) {
		grown = reallocarray(strand->frames, room, sizeof(*grown));
		if (!grown)
			return out_of_memory(err);
		strand->frames = grown;
		strand->room = room;
	}
	strand->frames[strand->count++] = (struct frame){event->call, event->function};
	return EP_OK;
}

static void pop(struct strand *strand, uint64_t call)
{
	for (size_t i = strand->count; i > 0; i--)
		if (strand->frames[i - 1].call == call) {
			memmove(&strand->frames[i - 1], &strand->frames[i],
				(strand->count - i) * sizeof(struct frame));
			strand->count--;
			return;
		}
}

static int take(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct waiting *w = context;
	struct strand *strand = &w->strands[event->thread - w->trace->threads];

	if (event->kind == EP_EVENT_BEGIN)
		return push(strand, event, err);
	if (event->kind == EP_EVENT_END)
		pop(strand, event->call);
	return EP_OK;
}

static int take_wait(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct waiting *w = context;
	const struct ep_slice *slice = event->place->slice;

	/* A process may wait for the drain to begin. */
	if (slice->begin < w->window.since ||
	    (slice->waker && slice->waker == w->trace->schedule->head.tid))
		return EP_OK;
	return add_slice(w, &w->strands[event->thread - w->trace->threads], event->place, err);
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

int ep_waits_create(struct ep_waits *waits, const struct ep_trace *trace, struct ep_names *names,
		    const struct ep_selection *selection, struct ep_err *err)
{
	const struct ep_selection all = {0};
	struct waiting w = {.waits = waits, .trace = trace};
	const struct ep_sink sink = {.context = &w, .event = take, .wait = take_wait};
	uint64_t shown;
	int rc;

	*waits = (struct ep_waits){0};
	w.window = ep_selection_window(selection ? selection : &all, trace);
	w.all = !ep_selection_leaves_out(selection);
	w.strands = calloc(trace->thread_count + 1, sizeof(*w.strands));
	rc = w.strands ? ep_stream(trace, names, selection, &sink, &shown, err)
		       : out_of_memory(err);
	for (size_t i = 0; w.strands && i < trace->thread_count; i++)
		free(w.strands[i].frames);
	free(w.strands);
	if (rc)
		ep_waits_deinit(waits);
	else if (waits->count)
		qsort(waits->list, waits->count, sizeof(*waits->list), compare);
	return rc;
}

void ep_waits_deinit(struct ep_waits *waits)
{
	for (size_t i = 0; i < waits->count; i++)
		free(waits->list[i]);
	free(waits->list);
	*waits = (struct ep_waits){0};
}

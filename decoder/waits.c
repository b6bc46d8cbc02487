/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.c: goes through calls and slices side by side: a slice belongs to the
 * call that was innermost when it began.
 */
#include "decoder/waits.h"

#include <stdlib.h>
#include <string.h>

#include "decoder/selection.h"

struct frame {
	uint64_t call;
	const struct ep_function *function;
};

struct strand { /* a thread */
	struct frame *frames;
	size_t count, room;
	size_t next; /* slice that is not told yet */
	bool met;
};

struct waiting {
	struct ep_waits *waits;
	const struct ep_trace *trace;
	struct ep_window window;
	struct strand *strands; /* as the trace's threads */
	size_t room;
};

static int out_of_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

/* ---- sites ---- */

static struct ep_wait *site_of(struct waiting *w,
			       const struct ep_function *function,
			       const struct ep_function *caller)
{
	struct ep_waits *waits = w->waits;
	size_t room = w->room ? 2 * w->room : 64;
	struct ep_wait **grown, *wait;

	for (size_t i = 0; i < waits->count; i++)
		if (waits->list[i]->function == function &&
		    waits->list[i]->caller == caller)
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
	return waits->list[waits->count++] = wait;
}

static bool same_waker(const struct ep_slice *a, const struct ep_slice *b)
{
	return a->waker_kind == b->waker_kind && a->waker == b->waker;
}

/* One more than are told apart takes the place of the least. */
static void add_waker(struct ep_wait *wait, const struct ep_slice *slice,
		      int64_t ns)
{
	size_t at = 0;

	while (at < wait->waker_count &&
	       !same_waker(&wait->wakers[at].slice, slice))
		at++;
	if (at == EP_WAIT_WAKERS)
		at--;
	if (at == wait->waker_count ||
	    !same_waker(&wait->wakers[at].slice, slice))
		wait->wakers[at] = (struct ep_wait_waker){.slice = *slice};
	if (at == wait->waker_count)
		wait->waker_count++;
	wait->wakers[at].count++;
	wait->wakers[at].total += ns;
	for (; at > 0 && wait->wakers[at - 1].total < wait->wakers[at].total;
	     at--) {
		struct ep_wait_waker other = wait->wakers[at];

		wait->wakers[at] = wait->wakers[at - 1];
		wait->wakers[at - 1] = other;
	}
}

static int add_slice(struct waiting *w, const struct strand *strand,
		     const struct ep_slice *slice, struct ep_err *err)
{
	const struct frame *top =
		strand->count ? &strand->frames[strand->count - 1] : NULL;
	int64_t ns = ep_trace_ns(w->trace, slice->begin, slice->end);
	struct ep_wait *wait;

	if (slice->state == EP_SLICE_READY)
		w->waits->ready += ns;
	if (slice->state != EP_SLICE_BLOCKED)
		return EP_OK;
	wait = site_of(w, top ? top->function : NULL,
		       strand->count > 1 ? top[-1].function : NULL);
	if (!wait)
		return out_of_memory(err);
	wait->count++;
	wait->open += slice->open;
	wait->total += ns;
	w->waits->total += ns;
	if (ns > wait->longest)
		wait->longest = ns;
	if (slice->waker_kind != EP_WAKER_UNKNOWN)
		add_waker(wait, slice, ns);
	return EP_OK;
}

/* Slices that began before `tsc` belong to the calls that are open now. */
static int catch_up(struct waiting *w, const struct ep_trace_thread *thread,
		    uint64_t tsc, struct ep_err *err)
{
	const struct ep_task *task =
		ep_schedule_task(w->trace->schedule, thread->tid);
	struct strand *strand = &w->strands[thread - w->trace->threads];
	int rc = EP_OK;

	while (task && !rc && strand->next < task->count &&
	       task->slices[strand->next].begin < tsc) {
		const struct ep_slice *slice = &task->slices[strand->next++];

		/* A tid may have been another thread's before; and a process
		 * may wait for the drain to begin. */
		if (slice->begin >= w->window.since &&
		    slice->begin <= w->window.until &&
		    slice->begin >= thread->start_tsc &&
		    (!slice->waker ||
		     slice->waker != w->trace->schedule->head.tid))
			rc = add_slice(w, strand, slice, err);
	}
	return rc;
}

/* ---- the sink ---- */

static int push(struct strand *strand, const struct ep_event *event,
		struct ep_err *err)
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
	strand->frames[strand->count++] =
		(struct frame){event->call, event->function};
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
	bool ends = event->kind == EP_EVENT_END;
	int rc;

	strand->met = true;
	if (event->kind != EP_EVENT_BEGIN && !ends)
		return EP_OK;
	rc = catch_up(w, event->thread,
		      ends ? event->end.best : event->begin.best, err);
	if (!rc && !ends)
		return push(strand, event, err);
	pop(strand, event->call);
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct ep_wait *x = *(struct ep_wait *const *)a;
	const struct ep_wait *y = *(struct ep_wait *const *)b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->function && y->function
		       ? strcmp(x->function->name, y->function->name)
		       : !x->function - !y->function;
}

int ep_waits_create(struct ep_waits *waits, const struct ep_trace *trace,
		    struct ep_names *names,
		    const struct ep_selection *selection, struct ep_err *err)
{
	const struct ep_selection all = {0};
	struct waiting w = {.waits = waits, .trace = trace};
	const struct ep_sink sink = {.context = &w, .event = take};
	uint64_t shown;
	int rc;

	*waits = (struct ep_waits){0};
	w.window = ep_selection_window(selection ? selection : &all, trace);
	w.strands = calloc(trace->thread_count + 1, sizeof(*w.strands));
	rc = w.strands ? ep_stream(trace, names, selection, &sink, &shown, err)
		       : out_of_memory(err);
	for (size_t i = 0; w.strands && i < trace->thread_count; i++) {
		if (!rc && w.strands[i].met)
			rc = catch_up(&w, &trace->threads[i],
				      trace->threads[i].end_tsc
					      ? trace->threads[i].end_tsc
					      : UINT64_MAX,
				      err);
		free(w.strands[i].frames);
	}
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* tail.c: kept are the events of a thread's last blocks; which calls were open before these is
 * known by those that end in them, and those that never do. */
#include "decoder/calls/tail.h"

#include "coredump/util/alloc.h"

void ep_tail_init(struct ep_tail *tail, const struct ep_calls *calls)
{
	*tail = (struct ep_tail){.calls = calls, .whole = true, .usable = true};
}

void ep_tail_deinit(struct ep_tail *tail)
{
	for (size_t i = 0; i < tail->events.count; i++)
		free((char *)tail->events.list[i].text);
	ep_array_deinit(&tail->events);
}

static bool from_before(const struct ep_event *event)
{
	return event->kind == EP_EVENT_END && event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY);
}

int ep_tail_event(void *context, const struct ep_event *event, const struct ep_nest_thread *thread)
{
	struct ep_tail *tail = context;
	struct ep_event *kept;

	(void)thread;
	if (event->stack)
		tail->usable = false;
	if (ep_calls_blocks_left(tail->calls) >= EP_TAIL_BLOCKS) {
		tail->whole = false;
		return EP_OK;
	}
	kept = ep_array_add(&tail->events);
	*kept = *event;
	kept->text = event->text ? ep_strdup(event->text) : NULL;
	tail->begun += event->kind == EP_EVENT_BEGIN || from_before(event);
	return EP_OK;
}

/* ---- what was open before ---- */

/* The number of the first call that begins in the tail. */
static uint64_t first_call(const struct ep_tail *tail)
{
	for (size_t i = 0; i < tail->events.count; i++)
		if (tail->events.list[i].kind == EP_EVENT_BEGIN ||
		    from_before(&tail->events.list[i]))
			return tail->events.list[i].call;
	return UINT64_MAX;
}

static struct ep_event begin_of(const struct ep_event *event)
{
	struct ep_event begin = *event;

	begin.kind = EP_EVENT_BEGIN;
	begin.flags = 0;
	begin.end = (struct ep_time){0};
	begin.text = NULL;
	return begin;
}

static int compare_calls(const void *a, const void *b)
{
	const struct ep_event *x = a, *y = b;

	return (x->call > y->call) - (x->call < y->call);
}

static bool is_caller(const struct ep_event *event, uint64_t first)
{
	return event->kind == EP_EVENT_END && !from_before(event) && event->call < first;
}

/* Open calls lie outermost first: the callers are at their beginning. */
static size_t open_callers(const struct ep_calls *calls, uint64_t first,
			   const struct ep_event **open)
{
	size_t count, callers = 0;

	*open = ep_calls_open(calls, &count);
	while (callers < count && (*open)[callers].call < first)
		callers++;
	return callers;
}

static void add_callers(struct ep_tail *tail)
{
	uint64_t first = first_call(tail);
	const struct ep_event *open;
	size_t still = open_callers(tail->calls, first, &open), kept = tail->events.count;
	EP_ARRAY(struct ep_event) all = {0};

	for (size_t i = 0; i < kept; i++)
		if (is_caller(&tail->events.list[i], first))
			ep_array_push(&all, begin_of(&tail->events.list[i]));
	for (size_t i = 0; i < still; i++)
		ep_array_push(&all, begin_of(&open[i]));
	tail->callers = all.count;
	if (!all.count)
		return;
	ep_array_sort(&all, compare_calls);
	ep_array_reserve(&all, all.count + kept);
	if (kept)
		memcpy(all.list + all.count, tail->events.list, kept * sizeof(*all.list));
	free(tail->events.list);
	tail->events.list = all.list;
	tail->events.count = all.count + kept;
	tail->events.capacity = all.capacity;
}

void ep_tail_finish(struct ep_tail *tail, uint32_t too_deep)
{
	for (size_t i = 0; i < tail->events.count; i++)
		tail->events.list[i].depth -= too_deep;
	if (!tail->whole && tail->usable)
		add_callers(tail);
	tail->calls = NULL;
}

bool ep_tail_holds(const struct ep_tail *tail, uint64_t calls)
{
	return tail->usable && (tail->whole || tail->begun >= calls);
}

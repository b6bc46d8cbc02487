/* SPDX-License-Identifier: BSD-2-Clause */
/* tail.c: kept are the events of a thread's last blocks; which calls were open before these is told
 * by those that end in them, and those that never do. */
#include "decoder/calls/tail.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256u

void ep_tail_init(struct ep_tail *tail)
{
	*tail = (struct ep_tail){.whole = true, .usable = true};
}

void ep_tail_deinit(struct ep_tail *tail)
{
	for (size_t i = 0; i < tail->count; i++)
		free((char *)tail->events[i].text);
	free(tail->events);
	*tail = (struct ep_tail){0};
}

static struct ep_event *add(struct ep_tail *tail)
{
	size_t room = tail->room ? 2 * tail->room : FIRST_CAPACITY;
	struct ep_event *grown;

	if (tail->count == tail->room) {
		grown = realloc(tail->events, room * sizeof(*grown));
		if (!grown)
			return NULL;
		tail->events = grown;
		tail->room = room;
	}
	return &tail->events[tail->count++];
}

static bool from_before(const struct ep_event *event)
{
	return event->kind == EP_EVENT_END && event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY);
}

int ep_tail_take(struct ep_tail *tail, const struct ep_calls *calls, const struct ep_event *event)
{
	char *text = NULL;
	struct ep_event *kept;

	if (event->stack)
		tail->usable = false;
	if (ep_calls_blocks_left(calls) >= EP_TAIL_BLOCKS) {
		tail->whole = false;
		return EP_OK;
	}
	if (event->text && !(text = strdup(event->text)))
		return EP_E_MEMORY;
	kept = add(tail);
	if (!kept) {
		free(text);
		return EP_E_MEMORY;
	}
	*kept = *event;
	kept->text = text;
	tail->calls += event->kind == EP_EVENT_BEGIN || from_before(event);
	return EP_OK;
}

/* ---- what was open before ---- */

/* The number of the first call that begins in the tail. */
static uint64_t first_call(const struct ep_tail *tail)
{
	for (size_t i = 0; i < tail->count; i++)
		if (tail->events[i].kind == EP_EVENT_BEGIN || from_before(&tail->events[i]))
			return tail->events[i].call;
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

/* Makes room for `count` events before the others. */
static int make_room(struct ep_tail *tail, size_t count)
{
	size_t room = tail->count + count;
	struct ep_event *grown =
		room > tail->room ? realloc(tail->events, room * sizeof(*grown)) : tail->events;

	if (!grown)
		return EP_E_MEMORY;
	tail->room = room > tail->room ? room : tail->room;
	tail->events = grown;
	memmove(grown + count, grown, tail->count * sizeof(*grown));
	tail->count += count;
	return EP_OK;
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

static int add_callers(struct ep_tail *tail, const struct ep_calls *calls)
{
	uint64_t first = first_call(tail);
	const struct ep_event *open;
	size_t still = open_callers(calls, first, &open), ended = 0, at = 0;

	for (size_t i = 0; i < tail->count; i++)
		ended += is_caller(&tail->events[i], first);
	if (still + ended == 0)
		return EP_OK;
	if (make_room(tail, still + ended) != EP_OK)
		return EP_E_MEMORY;
	tail->callers = still + ended;
	for (size_t i = tail->callers; i < tail->count; i++)
		if (is_caller(&tail->events[i], first))
			tail->events[at++] = begin_of(&tail->events[i]);
	for (size_t i = 0; i < still; i++)
		tail->events[at++] = begin_of(&open[i]);
	qsort(tail->events, tail->callers, sizeof(*tail->events), compare_calls);
	return EP_OK;
}

int ep_tail_finish(struct ep_tail *tail, const struct ep_calls *calls, uint32_t too_deep)
{
	for (size_t i = 0; i < tail->count; i++)
		tail->events[i].depth -= too_deep;
	if (tail->whole || !tail->usable)
		return EP_OK;
	return add_callers(tail, calls);
}

bool ep_tail_holds(const struct ep_tail *tail, uint64_t calls)
{
	return tail->usable && (tail->whole || tail->calls >= calls);
}

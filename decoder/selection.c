/* SPDX-License-Identifier: BSD-2-Clause */
/* selection.c: the user's filters, applied to a list of calls. */
#include "decoder/selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/timetext.h"

bool ep_when_parse(const char *text, struct ep_when *out)
{
	int64_t ns;

	if ((*text != '-' && *text != '+') || !ep_timetext_parse(text, &ns))
		return false;
	*out = (struct ep_when){true, *text == '-', ns};
	return true;
}

bool ep_selection_parse_last(struct ep_selection *selection, const char *text)
{
	char *end;
	uint64_t calls;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	calls = strtoull(text, &end, 10);
	if (!*end) {
		if (errno)
			return false;
		selection->last_calls = calls;
		return calls != 0;
	}
	return ep_timetext_parse(text, &selection->last_ns) &&
	       selection->last_ns > 0;
}

bool ep_selection_wants_thread(const struct ep_selection *selection,
			       const struct ep_trace_thread *thread)
{
	char number[16];

	if (!selection->thread)
		return true;
	snprintf(number, sizeof(number), "%u", thread->tid);
	if (!strcmp(selection->thread, number))
		return true;
	snprintf(number, sizeof(number), "#%u", thread->serial);
	return !strcmp(selection->thread, number) ||
	       !fnmatch(selection->thread, thread->name, 0);
}

static uint64_t tsc_of(const struct ep_trace *trace, const struct ep_when *when,
		       uint64_t otherwise)
{
	uint64_t from = when->from_end ? trace->last_tsc : trace->first_tsc;
	double ticks;

	if (!when->given || trace->clock.ns_per_tick <= 0)
		return otherwise;
	ticks = (double)when->ns / trace->clock.ns_per_tick;
	if (ticks < 0)
		return (double)from > -ticks ? from - (uint64_t)-ticks : 0;
	return from + (uint64_t)ticks;
}

struct ep_window ep_selection_window(const struct ep_selection *selection,
				     const struct ep_trace *trace)
{
	struct ep_when last = {selection->last_ns != 0, true,
			       -selection->last_ns};
	struct ep_window window = {
		tsc_of(trace, &selection->since, 0),
		tsc_of(trace, &selection->until, UINT64_MAX)};
	uint64_t also = tsc_of(trace, &last, 0);

	if (also > window.since)
		window.since = also;
	return window;
}

static bool passes(const struct ep_selection *selection,
		   const struct ep_trace *trace, const struct ep_call *call,
		   struct ep_window window)
{
	if (call->begin.best > window.until ||
	    (call->ended && call->end.best < window.since))
		return false;
	if (!call->function)
		return true;
	if (selection->depth && call->depth >= selection->depth)
		return false;
	if (selection->min_duration && call->ended &&
	    ep_call_duration(trace, call) < selection->min_duration)
		return false;
	return !selection->function ||
	       !fnmatch(selection->function, call->function->name, 0);
}

/* A call that ends after the first marked call of its thread began, and began
 * before it, is around it: a line without its callers would stand at a depth
 * that nothing explains. */
static int mark_callers(const struct ep_selection *selection,
			const struct ep_trace *trace,
			const struct ep_call_list *list, uint8_t *marks,
			size_t *shown)
{
	/* by index of the thread: its first marked call + 1 */
	uint32_t *first = calloc(trace->thread_count + 1, sizeof(*first));
	struct ep_window window = ep_selection_window(selection, trace);

	if (!first)
		return EP_E_MEMORY;
	for (size_t i = 0; i < list->moment_count; i++) {
		uint32_t index = list->moments[i].call;
		const struct ep_call *call = &list->calls[index];
		uint32_t *slot = &first[call->thread - trace->threads];

		if (!*slot && marks[index] && call->function && call->ended)
			*slot = index + 1;
		if (*slot && list->moments[i].end && !marks[index] &&
		    index + 1 < *slot &&
		    passes(selection, trace, call, window)) {
			marks[index] = 1;
			++*shown;
		}
	}
	free(first);
	return EP_OK;
}

uint8_t *ep_selection_apply(const struct ep_selection *selection,
			    const struct ep_trace *trace,
			    const struct ep_call_list *list, size_t *shown)
{
	uint8_t *marks = calloc(list->count + 1, 1);
	struct ep_window window = ep_selection_window(selection, trace);
	uint64_t left =
		selection->last_calls ? selection->last_calls : UINT64_MAX;

	*shown = 0;
	if (!marks)
		return NULL;
	for (size_t i = list->count; i > 0 && left; i--) {
		const struct ep_call *call = &list->calls[i - 1];

		if (!passes(selection, trace, call, window))
			continue;
		marks[i - 1] = 1;
		if (call->function) {
			++*shown;
			left--;
		}
	}
	/* The calls around the last ones, which are still open, stay. */
	for (size_t i = 0; selection->last_calls && i < list->count; i++)
		if (!marks[i] && !list->calls[i].ended &&
		    passes(selection, trace, &list->calls[i], window)) {
			marks[i] = 1;
			++*shown;
		}
	if (selection->last_calls &&
	    mark_callers(selection, trace, list, marks, shown)) {
		free(marks);
		return NULL;
	}
	return marks;
}

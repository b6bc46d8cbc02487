/* SPDX-License-Identifier: BSD-2-Clause */
/* selection.c: the user's filters, applied to a list of calls. */
#include "decoder/stream/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/util/timetext.h"

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
	return ep_timetext_parse(text, &selection->last_ns) && selection->last_ns > 0;
}

bool ep_selection_wants_thread(const struct ep_selection *selection,
			       const struct ep_trace_thread *thread)
{
	const struct ep_patterns *threads = &selection->threads;
	char tid[16], serial[16];

	if (selection->only)
		return selection->only == thread;
	snprintf(tid, sizeof(tid), "%u", thread->tid);
	snprintf(serial, sizeof(serial), "#%u", thread->serial);
	for (size_t i = 0; i < threads->count; i++)
		if (!strcmp(threads->list[i], tid) || !strcmp(threads->list[i], serial))
			return true;
	return ep_patterns_match(threads, thread->name);
}

static uint64_t tsc_of(const struct ep_trace *trace, const struct ep_when *when, uint64_t otherwise)
{
	uint64_t from = when->from_end ? trace->end.tsc : trace->first_tsc;
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
	struct ep_when last = {selection->last_ns != 0, true, -selection->last_ns};
	struct ep_window window = {tsc_of(trace, &selection->since, 0),
				   tsc_of(trace, &selection->until, UINT64_MAX)};
	uint64_t also = tsc_of(trace, &last, 0);

	if (also > window.since)
		window.since = also;
	return window;
}

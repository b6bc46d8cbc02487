/* SPDX-License-Identifier: BSD-2-Clause */
/* switched_text.c: those of the budget apart from those that somebody asked for. */
#include "decoder/report/switched_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decoder/trace/switches.h"
#include "decoder/util/timetext.h"

#define NAMED     3
#define TEXT_SIZE 1200

struct switched {
	size_t count;
	uint64_t rate;         /* calls a second */
	uint64_t since, until; /* TSC: the first went off after, the last before; 0 unknown */
	const struct ep_trace_switched *largest[NAMED];
};

static void add_largest(struct switched *all, const struct ep_trace_switched *one)
{
	for (size_t i = 0; i < NAMED; i++) {
		const struct ep_trace_switched *other = all->largest[i];

		if (other && other->rate >= one->rate)
			continue;
		all->largest[i] = one;
		if (!other)
			return;
		one = other;
	}
}

/* The functions that are off for one of these reasons. */
static void add_switched(struct switched *all, const struct ep_trace_switches *switches,
			 uint32_t reasons)
{
	for (size_t i = 0; i < switches->count; i++) {
		const struct ep_trace_switched *one = &switches->list[i];
		uint64_t since = ep_switched_since(one), until;

		if (!since || !(one->reasons & reasons))
			continue;
		all->count++;
		all->rate += one->rate;
		if (!all->since || since < all->since)
			all->since = since;
		until = one->off[one->off_count - 1].end;
		if (until != UINT64_MAX && until > all->until)
			all->until = until;
		add_largest(all, one);
	}
}

static void rate_text(char *out, size_t size, uint64_t rate)
{
	if (!rate)
		*out = 0;
	else if (rate >= 1000000)
		snprintf(out, size, ", %.1f M calls a second", (double)rate / 1e6);
	else
		snprintf(out, size, ", %" PRIu64 " calls a second", rate);
}

static void largest_text(char *out, size_t size, struct ep_names *names, const struct switched *all)
{
	size_t at = 0;

	*out = 0;
	for (size_t i = 0; i < NAMED && all->largest[i] && names; i++)
		if (at < size)
			at += (size_t)snprintf(
				out + at, size - at, "%s%s", i ? ", " : " (",
				ep_names_find(names, all->largest[i]->start, 0)->name);
	if (at && at < size)
		snprintf(out + at, size - at, "%s)", all->count > NAMED ? ", …" : "");
}

/* The first went off after `since`, the last before `until`. Of a process that still runs the end
 * is its last record: what went off later was traced in all that there is. */
static void since_text(char *out, size_t size, const struct ep_trace *trace, uint64_t since,
		       uint64_t until)
{
	char first[EP_TIMETEXT_SIZE], last[EP_TIMETEXT_SIZE];

	if (since > trace->end.tsc) {
		snprintf(out, size, "after the last record");
		return;
	}
	ep_timetext(first, ep_trace_ago(trace, since));
	ep_timetext(last, ep_trace_ago(trace, until));
	if (until > since + EP_SWITCH_SLACK && until <= trace->end.tsc && strcmp(first, last) != 0)
		snprintf(out, size, "since between %s and %s before the end", first, last);
	else
		snprintf(out, size, "since %s before the end", first);
}

static void print_switched(const struct ep_trace *trace, struct ep_names *names, uint32_t reasons,
			   const char *why, ep_switched_text_fn print, void *context)
{
	struct switched all = {0};
	char since[2 * EP_TIMETEXT_SIZE + 48], rate[64], largest[700], text[TEXT_SIZE];

	add_switched(&all, trace->switches, reasons);
	if (!all.count)
		return;
	since_text(since, sizeof(since), trace, all.since, all.until);
	rate_text(rate, sizeof(rate), all.rate);
	largest_text(largest, sizeof(largest), names, &all);
	snprintf(text, sizeof(text), "not traced %s: %zu function%s%s%s, %s", since, all.count,
		 all.count == 1 ? "" : "s", rate, largest, why);
	print(context, "switched-off", text);
}

static void print_all_off(const struct ep_trace *trace, ep_switched_text_fn print, void *context)
{
	uint64_t all = ep_all_off_since(trace);
	char since[EP_TIMETEXT_SIZE], text[256];

	if (!all)
		return;
	snprintf(text, sizeof(text), "everything was switched off %s%s%s",
		 all > trace->end.tsc ? "after the last record"
				      : ep_timetext(since, ep_trace_ago(trace, all)),
		 all > trace->end.tsc ? "" : " before the end",
		 ep_all_off_for_budget(&trace->switches->head)
			 ? ", as tracing cost too much, and so would have choosing functions "
			   "(EPITAPH_BUDGET)"
			 : "");
	print(context, "all-off", text);
}

void ep_switched_texts(const struct ep_trace *trace, struct ep_names *names,
		       ep_switched_text_fn print, void *context)
{
	char text[TEXT_SIZE];

	if (!trace->switches)
		return;
	print_all_off(trace, print, context);
	print_switched(trace, names, EP_SWITCH_BUDGET,
		       "as tracing them cost too much (EPITAPH_BUDGET)", print, context);
	print_switched(trace, names, EP_SWITCH_NAME | EP_SWITCH_CONTROL,
		       "as it was asked for (epitaph_untrace, epitaph control)", print, context);
	if (!trace->switches->head.untold)
		return;
	snprintf(text, sizeof(text),
		 "%u functions were switched off and are not listed: what is inside of "
		 "what may be wrong",
		 trace->switches->head.untold);
	print(context, "switched-untold", text);
}

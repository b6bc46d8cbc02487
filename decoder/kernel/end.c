/* SPDX-License-Identifier: BSD-2-Clause */
/* end.c: who knew last that the process lived: itself, whoever saw its end, the kernel's events;
 * and the core's file, which came after. */
#include "decoder/kernel/end.h"

#include <stdio.h>
#include <string.h>

#include "coredump/kinds/arena_file.h"
#include "decoder/kernel/schedule.h"
#include "decoder/util/timetext.h"

#define UNKNOWN EP_TRACE_END_UNKNOWN

/* Below these a line would say nothing: a core takes longer to be written. */
#define WORTH_LEAST INT64_C(1000000)
#define WORTH_MOST  INT64_C(100000000)
#define USELESS     (INT64_C(3600) * 1000000000)

/* What is looked at. */
struct witness {
	const struct ep_trace *trace;
	const struct ep_source *source;
	uint64_t ended; /* ns since 1970; 0 unknown */
};

static void exactly(struct ep_trace_end *end, const char *source, int64_t ns)
{
	if (ns < 0)
		return;
	end->source = source;
	end->least = end->most = ns;
}

static int64_t since_last(const struct ep_trace *trace, uint64_t realtime)
{
	uint64_t last = ep_trace_realtime(trace, trace->last_tsc);

	return last && realtime ? (int64_t)(realtime - last) : UNKNOWN;
}

/* It took the clock when it began to write. */
static void by_snapshot(struct ep_trace_end *end, const struct witness *witness)
{
	const struct ep_trace *trace = witness->trace;
	uint64_t taken = ep_source_snapshot_taken(witness->source);

	if (taken >= trace->last_tsc)
		exactly(end, "snapshot", ep_trace_ns(trace, trace->last_tsc, taken));
}

/* The kernel starts its handler when the process has died, and holds it. Of a file without a core
 * `run` saw the end. */
static void by_witness(struct ep_trace_end *end, const struct witness *witness)
{
	exactly(end, "catch",
		since_last(witness->trace, ep_source_snapshot_ended(witness->source)));
	if (!end->source && ep_source_arena_file(witness->source))
		exactly(end, "run", since_last(witness->trace, witness->ended));
}

/* When its scheduling events were copied last it lived. */
static void by_scheduling(struct ep_trace_end *end, const struct witness *witness)
{
	const struct ep_trace *trace = witness->trace;
	const struct ep_schedule *schedule = trace->schedule;
	uint64_t seen = schedule ? schedule->head.drained_tsc : 0;

	if (schedule && schedule->last > seen)
		seen = schedule->last;
	if (seen <= trace->last_tsc)
		return;
	end->source = "scheduling";
	end->least = ep_trace_ns(trace, trace->last_tsc, seen);
}

static void at_most(struct ep_trace_end *end, const char *source, int64_t ns)
{
	if (ns < 0 || ns < end->least || (end->most != UNKNOWN && ns >= end->most))
		return;
	end->most = ns;
	if (!end->source)
		end->source = source;
}

/* Its core was whole when somebody saw that it had ended, and when its file was written last; a
 * snapshot of it knows that. */
static void by_core(struct ep_trace_end *end, const struct witness *witness)
{
	bool core = ep_source_kind(witness->source) == EP_SOURCE_CORE;
	uint64_t written = core ? ep_source_written(witness->source)
				: ep_source_snapshot_written(witness->source);

	if (core)
		at_most(end, "run", since_last(witness->trace, witness->ended));
	at_most(end, "core-file", since_last(witness->trace, written));
}

void ep_end_find(struct ep_trace *trace, const struct ep_source *source, uint64_t ended)
{
	const struct witness witness = {trace, source, ended};
	enum ep_source_kind kind = ep_source_kind(source);
	struct ep_trace_end *end = &trace->end;

	*end = (struct ep_trace_end){NULL, UNKNOWN, UNKNOWN, trace->last_tsc, false};
	if (!trace->last_tsc || kind == EP_SOURCE_LIVE || kind == EP_SOURCE_FUNTRACE)
		return;
	by_snapshot(end, &witness);
	if (!end->source)
		by_witness(end, &witness);
	if (!end->source)
		by_scheduling(end, &witness);
	by_core(end, &witness);
	/* A file that outlives its process may be of one that runs. */
	end->later = kind == EP_SOURCE_ARENA ? ended && end->least != end->most
					     : !end->source || end->least != end->most;
	if (end->least > 0)
		end->tsc = ep_trace_tsc(
			trace, ep_ns_add(ep_trace_ns(trace, trace->first_tsc, trace->last_tsc),
					 end->least));
}

/* ---- in words ---- */

static const struct {
	const char *name, *words;
} sources[] = {
	{"snapshot", "the snapshot's clock"},
	{"catch", "the clock when the kernel started catch"},
	{"run", "the clock when run saw its end"},
	{"scheduling", "scheduling events"},
	{"core-file", "the time of the core file"},
};

static const char *source_words(const char *name)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (strcmp(sources[i].name, name) == 0)
			return sources[i].words;
	return name;
}

bool ep_end_text(const struct ep_trace_end *end, char *out, size_t size)
{
	char least[EP_TIMETEXT_SIZE], most[EP_TIMETEXT_SIZE];
	const char *by;

	if (end->least < WORTH_LEAST && (end->most < WORTH_MOST || end->most > USELESS))
		return false;
	by = source_words(end->source);
	if (end->least > 0)
		ep_timetext(least, end->least);
	if (end->most > 0)
		ep_timetext(most, end->most);
	if (end->least == end->most)
		snprintf(out, size, "no record in the last %s, by %s", least, by);
	else if (end->least <= 0)
		snprintf(out, size, "no record in the last %s at most, by %s", most, by);
	else if (end->most == UNKNOWN || end->most > USELESS)
		snprintf(out, size, "no record in the last %s at least, by %s", least, by);
	else
		snprintf(out, size, "no record in the last %s at least, by %s, and %s at most",
			 least, by, most);
	return true;
}

const char *ep_end_ago_text(const struct ep_trace *trace, uint64_t tsc, char out[EP_END_AGO_SIZE])
{
	int64_t ago = ep_trace_ago(trace, tsc);
	char text[EP_TIMETEXT_SIZE];

	if (trace->end.later && ago <= 0)
		snprintf(out, EP_END_AGO_SIZE, "some time");
	else
		snprintf(out, EP_END_AGO_SIZE, "%s%s", trace->end.later ? "at least " : "",
			 ep_timetext(text, ago));
	return out;
}

int64_t ep_end_uncertain(const struct ep_trace_end *end)
{
	if (!end->later)
		return 0;
	return end->most == UNKNOWN || end->most > USELESS
		       ? UNKNOWN
		       : end->most - (end->least > 0 ? end->least : 0);
}

const char *ep_end_before_text(const struct ep_trace *trace, uint64_t tsc,
			       char out[2 * EP_END_AGO_SIZE])
{
	int64_t ago = ep_trace_ago(trace, tsc), more = ep_end_uncertain(&trace->end);
	char least[EP_TIMETEXT_SIZE], most[EP_TIMETEXT_SIZE];
	const size_t size = 2 * EP_END_AGO_SIZE;

	ep_timetext(least, ago);
	if (!trace->end.later)
		snprintf(out, size, "%s before the end", least);
	else if (more == UNKNOWN && ago == 0)
		snprintf(out, size, "before the end (how long is not known)");
	else if (more == UNKNOWN)
		snprintf(out, size, "at least %s before the end", least);
	else if (ago == 0)
		snprintf(out, size, "up to %s before the end", ep_timetext(most, more));
	else
		snprintf(out, size, "%s to %s before the end", least,
			 ep_timetext(most, ep_ns_add(ago, more)));
	return out;
}

bool ep_end_later_text(const struct ep_trace_end *end, char out[EP_END_LATER_SIZE])
{
	int64_t more = ep_end_uncertain(end);
	char text[EP_TIMETEXT_SIZE];

	if (more == 0)
		return false;
	if (more == UNKNOWN)
		snprintf(out, EP_END_LATER_SIZE, "the earliest end, the real one may be later");
	else
		snprintf(out, EP_END_LATER_SIZE, "the earliest end, up to %s before the real one",
			 ep_timetext(text, more));
	return true;
}

/* ---- for programs ---- */

void ep_end_json(const struct ep_trace_end *end, struct ep_json *json)
{
	if (!end->source)
		return;
	ep_json_member_object(json, "silence");
	ep_json_member_text(json, "source", end->source);
	if (end->least >= 0)
		ep_json_member_int(json, "at_least_ns", end->least);
	if (end->most >= 0)
		ep_json_member_int(json, "at_most_ns", end->most);
	ep_json_object_end(json);
}

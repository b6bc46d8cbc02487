/* SPDX-License-Identifier: BSD-2-Clause */
/* report_silence.c: who knew last that the process lived: itself, whoever saw
 * its end, the kernel's events; and the core's file, which came after. */
#include "decoder/report_silence.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "coredump/arena_file.h"
#include "decoder/schedule.h"
#include "decoder/timetext.h"
#include "decoder/trace.h"

#define UNKNOWN EP_REPORT_SILENCE_UNKNOWN

/* Below these a line would say nothing: a core takes longer to be written. */
#define WORTH_LEAST INT64_C(1000000)
#define WORTH_MOST  INT64_C(100000000)
#define USELESS     (INT64_C(3600) * 1000000000)
/* A file's time may be one tick of the kernel's clock old (at 100 Hz). */
#define TICK INT64_C(10000000)

static void exactly(struct ep_report_silence *silence, const char *source,
		    int64_t ns)
{
	if (ns < 0)
		return;
	silence->source = source;
	silence->least = silence->most = ns;
}

static int64_t since_last(const struct ep_trace *trace, uint64_t realtime)
{
	uint64_t last = ep_trace_realtime(trace, trace->last_tsc);

	return last && realtime ? (int64_t)(realtime - last) : UNKNOWN;
}

/* It took the clock when it began to write. */
static void by_snapshot(struct ep_report_silence *silence,
			const struct ep_report *report)
{
	const struct ep_trace *trace = report->trace;
	uint64_t taken = ep_source_snapshot_taken(report->source);

	if (taken >= trace->last_tsc)
		exactly(silence, "snapshot",
			ep_trace_ns(trace, trace->last_tsc, taken));
}

/* The kernel starts its handler when the process has died, and holds it. Of a
 * file without a core `run` saw the end. */
static void by_witness(struct ep_report_silence *silence,
		       const struct ep_report *report)
{
	exactly(silence, "catch",
		since_last(report->trace,
			   ep_source_snapshot_ended(report->source)));
	if (!silence->source && ep_source_arena_file(report->source))
		exactly(silence, "run",
			since_last(report->trace, report->ended));
}

/* When its scheduling events were copied last it lived. */
static void by_scheduling(struct ep_report_silence *silence,
			  const struct ep_report *report)
{
	const struct ep_trace *trace = report->trace;
	uint64_t seen = trace->schedule ? trace->schedule->head.drained_tsc : 0;

	if (seen <= trace->last_tsc)
		return;
	silence->source = "scheduling";
	silence->least = ep_trace_ns(trace, trace->last_tsc, seen);
}

static void at_most(struct ep_report_silence *silence, const char *source,
		    int64_t ns)
{
	if (ns < 0 || ns < silence->least ||
	    (silence->most != UNKNOWN && ns >= silence->most))
		return;
	silence->most = ns;
	if (!silence->source)
		silence->source = source;
}

/* Its core was whole when somebody saw that it had ended, and when its file was
 * written last. */
static void by_core(struct ep_report_silence *silence,
		    const struct ep_report *report)
{
	const char *path = ep_source_path(report->source);
	struct stat status;
	uint64_t written;

	if (ep_source_kind(report->source) != EP_SOURCE_CORE)
		return;
	at_most(silence, "run", since_last(report->trace, report->ended));
	if (!path || stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_mtim.tv_sec < 0)
		return;
	written = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
		  (uint64_t)status.st_mtim.tv_nsec + (uint64_t)TICK;
	at_most(silence, "core-file", since_last(report->trace, written));
}

void ep_report_silence_init(struct ep_report_silence *silence,
			    struct ep_report *report)
{
	const struct ep_trace *trace = report->trace;
	enum ep_source_kind kind = ep_source_kind(report->source);

	*silence = (struct ep_report_silence){NULL, UNKNOWN, UNKNOWN, 0};
	silence->end_tsc = report->end_tsc = trace->last_tsc;
	if (!trace->last_tsc || kind == EP_SOURCE_LIVE ||
	    kind == EP_SOURCE_FUNTRACE)
		return;
	by_snapshot(silence, report);
	if (!silence->source)
		by_witness(silence, report);
	if (!silence->source)
		by_scheduling(silence, report);
	by_core(silence, report);
	if (silence->least <= 0)
		return;
	silence->end_tsc = ep_trace_tsc(
		trace, ep_trace_ns(trace, trace->first_tsc, trace->last_tsc) +
			       silence->least);
	report->end_tsc = silence->end_tsc;
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

bool ep_report_silence_text(const struct ep_report_silence *silence, char *out,
			    size_t size)
{
	char least[EP_TIMETEXT_SIZE], most[EP_TIMETEXT_SIZE];
	const char *by;

	if (silence->least < WORTH_LEAST &&
	    (silence->most < WORTH_MOST || silence->most > USELESS))
		return false;
	by = source_words(silence->source);
	if (silence->least > 0)
		ep_timetext(least, silence->least);
	if (silence->most > 0)
		ep_timetext(most, silence->most);
	if (silence->least == silence->most)
		snprintf(out, size, "no record in the last %s, by %s", least,
			 by);
	else if (silence->least <= 0)
		snprintf(out, size, "no record in the last %s at most, by %s",
			 most, by);
	else if (silence->most == UNKNOWN || silence->most > USELESS)
		snprintf(out, size, "no record in the last %s at least, by %s",
			 least, by);
	else
		snprintf(out, size,
			 "no record in the last %s at least, by %s, and %s at "
			 "most",
			 least, by, most);
	return true;
}

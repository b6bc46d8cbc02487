/* SPDX-License-Identifier: BSD-2-Clause */
/* replay.c: events as text, one at a time. */
#include "decoder/export/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/kernel/end.h"
#include "decoder/kernel/kernel_events.h"
#include "decoder/names/short_name.h"
#include "decoder/util/timetext.h"
#include "coredump/util/utf8.h"

#define INDENT     2
#define INDENT_MAX 120 /* columns; deeper calls say their depth */

/* ---- words ---- */

const char *ep_replay_gap(char out[EP_REPLAY_GAP_SIZE], const struct ep_event *event)
{
	const size_t size = EP_REPLAY_GAP_SIZE;
	uint64_t lost = event->lost;
	uint32_t gap = event->gap;
	size_t at = 0;

	out[0] = 0;
	if (gap & EP_GAP_LOST_BLOCKS)
		at += (size_t)snprintf(out + at, size - at,
				       "%" PRIu64 " blocks of history are gone", lost);
	if (gap & EP_GAP_HOLE && at < size)
		at += (size_t)snprintf(out + at, size - at,
				       "%s%" PRIu64 " records lost to a signal handler",
				       at ? ", " : "", lost);
	if (gap & EP_GAP_TEXT && at < size)
		at += (size_t)snprintf(out + at, size - at,
				       "%s%" PRIu64 " records lost: overwritten by text \"%s\"",
				       at ? ", " : "", lost, event->text ? event->text : "");
	if (gap & EP_GAP_PAUSED && at < size)
		at += (size_t)snprintf(out + at, size - at, "%stracing was paused", at ? ", " : "");
	if (gap & EP_GAP_UNKNOWN_ESCAPE && at < size)
		snprintf(out + at, size - at, "%sa record of a newer version", at ? ", " : "");
	return out;
}

bool ep_replay_approximate(const struct ep_event *event)
{
	return !event->begin.exact || (event->kind == EP_EVENT_END && !event->end.exact);
}

/* ---- the tree ---- */

static void print_text(struct ep_replay *replay, const char *text)
{
	ep_outbuf_text(replay->out, text);
}

/* `text` at the right of `width` columns, and a blank. */
static void print_right(struct ep_replay *replay, const char *text, size_t width)
{
	static const char blanks[] = "                        ";
	size_t length = strlen(text);

	if (length < width)
		ep_outbuf_put(replay->out, blanks, width - length);
	ep_outbuf_put(replay->out, text, length);
}

/* Seconds before the end. */
static void print_time(struct ep_replay *replay, const struct ep_time *time)
{
	int64_t ns = ep_trace_ago(replay->trace, time->best);
	char text[48];

	snprintf(text, sizeof(text), "%s-%" PRId64 ".%09" PRId64,
		 time->exact                     ? ""
		 : time->high == EP_TIME_UNKNOWN ? ">"
						 : "~",
		 ns / 1000000000, ns % 1000000000);
	print_text(replay, replay->style->dim);
	print_right(replay, text, 15);
	print_text(replay, replay->style->plain);
	print_text(replay, " ");
}

/* Of an END that has a begin; else room for it. */
static void print_duration(struct ep_replay *replay, const struct ep_event *event)
{
	char text[EP_TIMETEXT_SIZE], mark[EP_TIMETEXT_SIZE + 2] = "";
	struct ep_took took;

	/* After the last clock read a time is only known not to be earlier. */
	if (!event || event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY))
		mark[0] = 0;
	else if (event->end.high == EP_TIME_UNKNOWN)
		snprintf(mark, sizeof(mark), "?");
	else if (ep_event_took(replay->trace, event, &took))
		snprintf(mark, sizeof(mark), "%s%s",
			 ep_replay_approximate(event) && ep_times_agree(took.least, took.most) ? "~"
											       : "",
			 ep_timetext_range(text, took.likely, took.least, took.most));
	print_right(replay, mark, 13);
	print_text(replay, " ");
}

static void print_indent(struct ep_replay *replay, uint32_t depth)
{
	char text[INDENT_MAX + 16];

	depth -= depth < replay->outdent ? depth : replay->outdent;
	if (depth * INDENT > INDENT_MAX)
		snprintf(text, sizeof(text), "%*s[%u] ", INDENT_MAX - 8, "", depth);
	else
		snprintf(text, sizeof(text), "%*s", (int)(depth * INDENT), "");
	print_text(replay, text);
}

static void print_thread(struct ep_replay *replay, const struct ep_trace_thread *thread)
{
	char text[16 + sizeof(thread->name)], column[sizeof(text) + 24];

	if (!replay->style->threads)
		return;
	snprintf(text, sizeof(text), "%u %s", thread->tid, thread->name);
	snprintf(column, sizeof(column), "%-22s ", text);
	print_text(replay, column);
}

static const char *how_it_ended(uint32_t flags)
{
	if (flags & EP_CALL_BEFORE)
		return ": began before the history";
	if (flags & EP_CALL_STRAY)
		return ": a return without a call";
	if (flags & EP_CALL_UNWOUND)
		return ": left by an exception or longjmp";
	if (flags & EP_CALL_ABANDONED)
		return ": left without a return";
	if (flags & EP_CALL_SWITCHED)
		return ": its hooks were switched off, when it returned is not known";
	return "";
}

static void print_function(struct ep_replay *replay, const struct ep_function *function)
{
	char *name = replay->style->full_names ? NULL : ep_short_name(function->name);

	print_text(replay, name ? name : function->name);
	free(name);
}

/* "name()": C++ names have their parameters, the others get parentheses that make them look like
 * calls. */
static void print_name(struct ep_replay *replay, const struct ep_event *event)
{
	const char *name = event->function->name;

	print_text(replay, replay->style->name);
	print_function(replay, event->function);
	print_text(replay, replay->style->plain);
	print_text(replay, strchr(name, '(') ? "" : "()");
}

static void print_warning(struct ep_replay *replay, const char *before, const char *words,
			  const char *after)
{
	print_text(replay, replay->style->warn);
	print_text(replay, before);
	print_text(replay, words);
	print_text(replay, after);
	print_text(replay, replay->style->plain);
	print_text(replay, "\n");
}

static void print_head(struct ep_replay *replay, const struct ep_event *event,
		       const struct ep_time *time, const struct ep_event *duration)
{
	print_time(replay, time);
	print_thread(replay, event->thread);
	print_duration(replay, duration);
	print_indent(replay, event->depth);
}

/* What a call that ended waited, if it did. */
static void print_waiting(struct ep_replay *replay, const struct ep_event *event)
{
	char text[EP_TIMETEXT_SIZE], words[128];
	struct ep_slice_times times;
	int64_t waited;

	if (!ep_event_times(replay->trace, event, &times))
		return;
	waited = times.ready + times.blocked;
	if (!waited && !(event->flags & EP_CALL_UNSURE_WAIT))
		return;
	snprintf(words, sizeof(words), "  waited %s%s", times.unknown ? "at least " : "",
		 ep_timetext(text, waited));
	print_text(replay, replay->style->dim);
	print_text(replay, waited ? words : "  may have waited, or a call near it");
	if (!waited) {
		print_text(replay, replay->style->plain);
		return;
	}
	if (times.ready >= times.blocked) {
		snprintf(words, sizeof(words), ", %s of it for a CPU",
			 ep_timetext(text, times.ready));
		print_text(replay, words);
	}
	print_text(replay, replay->style->plain);
}

static void print_begin(struct ep_replay *replay, const struct ep_event *event)
{
	const struct ep_trace_thread *thread = event->thread;
	const char *why = thread->flags & EP_THREAD_IGNORED
				  ? " before its thread asked to be ignored"
			  : thread->state == EP_THREAD_DEAD ? ": its thread ended"
							    : "";

	print_head(replay, event, &event->begin, NULL);
	print_name(replay, event);
	if (event->flags & EP_CALL_OPEN)
		print_warning(replay, " { /* did not return", why, " */");
	else
		print_text(replay, " {\n");
}

static void print_end(struct ep_replay *replay, const struct ep_event *event)
{
	print_head(replay, event, &event->end, event);
	print_text(replay, replay->style->dim);
	print_text(replay, "} /* ");
	print_function(replay, event->function);
	print_text(replay, how_it_ended(event->flags));
	print_text(replay, " */");
	print_text(replay, replay->style->plain);
	print_waiting(replay, event);
	print_text(replay, "\n");
}

/* A call that called nothing that is shown. */
static void print_leaf(struct ep_replay *replay, const struct ep_event *event)
{
	print_head(replay, event, &event->begin, event);
	print_name(replay, event);
	if (event->flags & (EP_CALL_ABANDONED | EP_CALL_SWITCHED)) {
		print_warning(replay, "; /* ", how_it_ended(event->flags) + 2, " */");
		return;
	}
	print_text(replay, ";");
	print_waiting(replay, event);
	print_text(replay, "\n");
}

static void print_gap(struct ep_replay *replay, const struct ep_event *event)
{
	char text[EP_REPLAY_GAP_SIZE];

	print_time(replay, &event->begin);
	print_thread(replay, event->thread);
	print_duration(replay, NULL);
	print_warning(replay, "--- ", ep_replay_gap(text, event), " ---");
}

/* What the program said: its own words, at their place. */
static void print_note(struct ep_replay *replay, const struct ep_event *event)
{
	bool before = event->flags & EP_CALL_BEFORE;
	char text[EP_TIMETEXT_SIZE];

	print_head(replay, event, &event->begin, NULL);
	print_text(replay, replay->style->name);
	print_text(replay, "-- ");
	if (event->point == EP_POINT_WATCHDOG)
		print_text(replay, "missed deadline: ");
	else if (event->point != EP_POINT_NOTE)
		print_text(replay, "span ");
	print_text(replay, event->text);
	if (event->point == EP_POINT_SPAN_BEGIN)
		print_text(replay, " begins");
	if (event->point == EP_POINT_SPAN_END && before)
		print_text(replay, " ends: it began before the history, or never");
	if (event->point == EP_POINT_SPAN_END && !before) {
		print_text(replay, " ends after ");
		print_text(replay, ep_timetext(text, ep_trace_ns(replay->trace, event->since.best,
								 event->begin.best)));
	}
	print_text(replay, replay->style->plain);
	print_text(replay, "\n");
}

static void print_point(struct ep_replay *replay, const struct ep_event *event)
{
	static const char *const words[] = {
		[EP_POINT_THROW] = "throws ",
		[EP_POINT_RETHROW] = "throws again",
		[EP_POINT_CATCH] = "catches",
		[EP_POINT_LONGJMP] = "jumps (longjmp)",
		[EP_POINT_STACK] = "goes on upon another stack",
	};
	bool unseen = event->point == EP_POINT_STACK && *event->text;

	print_head(replay, event, &event->begin, NULL);
	print_text(replay, replay->style->warn);
	print_text(replay, "-- ");
	if (event->function && !unseen) {
		print_function(replay, event->function);
		print_text(replay, " ");
	}
	print_text(replay, unseen ? "" : words[event->point]);
	print_text(replay, event->text);
	if (event->point == EP_POINT_THROW && !*event->text)
		print_text(replay, "something foreign");
	print_text(replay, replay->style->plain);
	print_text(replay, "\n");
}

/* ---- system calls ---- */

static void print_kernel_event(struct ep_replay *replay, const struct ep_trace_thread *thread,
			       const struct ep_kernel_event *call)
{
	const struct ep_kernel_event *end = ep_kernel_event_end(replay->trace->schedule, call);
	const struct ep_time time = {call->tsc, call->tsc, call->tsc, true, false, false, 0};
	char text[EP_KERNEL_EVENT_TEXT], took[EP_TIMETEXT_SIZE];

	print_time(replay, &time);
	print_thread(replay, thread);
	print_right(replay,
		    end ? ep_timetext(took, ep_trace_ns(replay->trace, call->tsc, end->tsc)) : "",
		    13);
	print_text(replay, " ");
	print_indent(replay, replay->depth);
	print_text(replay, replay->style->dim);
	print_text(replay, ep_kernel_event_text(text, call));
	if (end && call->kind == EP_KERNEL_SYSCALL) {
		snprintf(text, sizeof(text), " = %" PRId64, (int64_t)end->what);
		print_text(replay, text);
	}
	print_text(replay, replay->style->plain);
	print_text(replay, "\n");
}

/* Those of the event's thread that came before it; in a listing of one thread only. */
static void print_kernel_events(struct ep_replay *replay, const struct ep_event *event)
{
	const struct ep_schedule *schedule = replay->trace->schedule;
	uint64_t until = event->kind == EP_EVENT_END ? event->end.best : event->begin.best;

	if (!schedule || replay->style->threads)
		return;
	while (replay->kernel_event < schedule->kernel_event_count &&
	       schedule->kernel_events[replay->kernel_event].tsc < until) {
		const struct ep_kernel_event *one =
			&schedule->kernel_events[replay->kernel_event++];

		if (one->tid != event->thread->tid || !ep_kernel_event_begins(one))
			continue;
		if (replay->waits)
			replay->depth = replay->begin.depth + 1;
		ep_replay_end(replay);
		print_kernel_event(replay, event->thread, one);
	}
}

/* ---- one after the other ---- */

void ep_replay_init(struct ep_replay *replay, struct ep_outbuf *out, const struct ep_trace *trace,
		    const struct ep_replay_style *style)
{
	*replay = (struct ep_replay){.out = out, .trace = trace, .style = style};
	/* What came before the first record is not printed. */
	while (trace->schedule && replay->kernel_event < trace->schedule->kernel_event_count &&
	       trace->schedule->kernel_events[replay->kernel_event].tsc < trace->first_tsc)
		replay->kernel_event++;
}

void ep_replay_end(struct ep_replay *replay)
{
	if (replay->waits)
		print_begin(replay, &replay->begin);
	replay->waits = false;
}

/* Calls that did not return were said to be so where they began. */
static void print_open_span(struct ep_replay *replay, const struct ep_event *event)
{
	ep_replay_end(replay);
	print_head(replay, event, &event->begin, NULL);
	print_warning(replay, "-- span ", event->text, " began here and did not end");
}

int ep_replay_event(void *context, const struct ep_event *event, const struct ep_nest_thread *none)
{
	struct ep_replay *replay = context;

	(void)none;
	if (event->kind == EP_EVENT_OPEN_SPAN)
		print_open_span(replay, event);
	if (event->kind >= EP_EVENT_OPEN)
		return EP_OK;
	print_kernel_events(replay, event);
	replay->depth = event->depth + (event->kind == EP_EVENT_BEGIN);
	if (event->kind == EP_EVENT_END && replay->waits && replay->begin.thread == event->thread &&
	    replay->begin.call == event->call) {
		replay->waits = false;
		print_leaf(replay, event);
		return EP_OK;
	}
	ep_replay_end(replay);
	if (event->kind == EP_EVENT_BEGIN) {
		replay->begin = *event;
		replay->waits = true;
	} else if (event->kind == EP_EVENT_END) {
		print_end(replay, event);
	} else if (event->kind == EP_EVENT_GAP) {
		print_gap(replay, event);
	} else if (event->point >= EP_POINT_NOTE) {
		print_note(replay, event);
	} else {
		print_point(replay, event);
	}
	return EP_OK;
}

/* ---- for programs -------------------------------------------------------- */

static void print_times(struct ep_outbuf *out, const struct ep_trace *trace,
			const struct ep_time *time)
{
	uint64_t zero = trace->first_tsc;

	ep_outbuf_int(out, ep_trace_ns(trace, zero, time->best));
	ep_outbuf_text(out, "\t");
	ep_outbuf_int(out, ep_trace_ns(trace, zero, time->low));
	ep_outbuf_text(out, "\t");
	if (time->high == EP_TIME_UNKNOWN)
		ep_outbuf_text(out, "-");
	else
		ep_outbuf_int(out, ep_trace_ns(trace, zero, time->high));
}

#define NO_TIMES 9 /* columns, behind those of the times */

/* What did not return went on until then. The tree says it in words (ep_end_later_text). */
static void print_end_times(struct ep_outbuf *out, const struct ep_trace *trace)
{
	int64_t end = ep_trace_ns(trace, trace->first_tsc, trace->end.tsc);
	int64_t more = ep_end_uncertain(&trace->end);

	ep_outbuf_text(out, "# end\t");
	ep_outbuf_int(out, end);
	ep_outbuf_text(out, "\t");
	ep_outbuf_int(out, end);
	ep_outbuf_text(out, "\t");
	if (more == EP_TRACE_END_UNKNOWN)
		ep_outbuf_text(out, "-");
	else
		ep_outbuf_int(out, ep_ns_add(end, more));
	for (unsigned i = 0; i < NO_TIMES; i++)
		ep_outbuf_text(out, "\t-");
	ep_outbuf_text(out, "\n");
}

void ep_replay_tsv_head(struct ep_outbuf *out, const struct ep_trace *trace)
{
	ep_outbuf_text(out, "# "
			    "event\ttime_ns\tearliest_ns\tlatest_"
			    "ns\ttid\tthread\tdepth\tfunction\tmodule\taddress\tflags\ton_cpu_"
			    "ns\twaiting_ns\n");
	print_end_times(out, trace);
}

static const char *kind_of(const struct ep_event *event)
{
	if (event->kind == EP_EVENT_GAP)
		return "G";
	if (event->kind == EP_EVENT_POINT)
		return "P";
	if (event->flags & EP_CALL_STRAY)
		return "S";
	return event->kind == EP_EVENT_END ? "E" : "B";
}

/* Words for the flags column, comma-separated; "-" for none. */
static void print_flags(struct ep_outbuf *out, const struct ep_event *event, bool exact,
			bool refined)
{
	uint32_t f = event->flags;
	bool end = event->kind == EP_EVENT_END;
	const struct {
		bool on;
		const char *word;
	} words[] = {
		{!exact, "approximate"},
		{refined, "by-switches"},
		{f & EP_CALL_OPEN, "did-not-return"},
		{f & EP_CALL_BEFORE, "began-before"},
		{end && f & EP_CALL_ABANDONED, "abandoned"},
		{end && f & EP_CALL_UNWOUND, "unwound"},
		{f & EP_CALL_SWITCHED, "switched-off"},
		{end && f & EP_CALL_ACROSS_GAP, "across-gap"},
		{end && f & EP_CALL_AMBIGUOUS, "ambiguous"},
		{end && f & EP_CALL_UNSURE_WAIT, "unsure-wait"},
		{event->gap & EP_GAP_LOST_BLOCKS, "lost-blocks"},
		{event->gap & EP_GAP_PAUSED, "paused"},
		{event->gap & EP_GAP_HOLE, "hole"},
		{event->gap & EP_GAP_TEXT, "text"},
		{event->gap & EP_GAP_UNKNOWN_ESCAPE, "newer-version"},
	};
	const char *comma = "";

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i].on) {
			ep_outbuf_text(out, comma);
			ep_outbuf_text(out, words[i].word);
			comma = ",";
		}
	ep_outbuf_text(out, *comma ? "" : "-");
}

/* The last two columns. */
static void print_spent(struct ep_outbuf *out, const struct ep_trace *trace,
			const struct ep_event *event)
{
	struct ep_slice_times times;

	if (!ep_event_times(trace, event, &times) || times.unknown) {
		ep_outbuf_text(out, "\t-\t-\n");
		return;
	}
	ep_outbuf_text(out, "\t");
	ep_outbuf_int(out, times.running);
	ep_outbuf_text(out, "\t");
	ep_outbuf_int(out, times.ready + times.blocked);
	ep_outbuf_text(out, "\n");
}

static void print_cell(struct ep_outbuf *out, const char *text)
{
	ep_outbuf_text(out, ep_is_formula(text) ? "'" : "");
	ep_outbuf_text(out, text);
}

int ep_replay_tsv_event(void *context, const struct ep_event *event,
			const struct ep_nest_thread *none)
{
	const struct ep_function *function = event->function;
	struct ep_replay *replay = context;
	struct ep_outbuf *out = replay->out;
	const struct ep_time *time = event->kind == EP_EVENT_END ? &event->end : &event->begin;

	(void)none;
	if (event->kind >= EP_EVENT_OPEN)
		return EP_OK;
	ep_outbuf_text(out, kind_of(event));
	ep_outbuf_text(out, "\t");
	print_times(out, replay->trace, time);
	ep_outbuf_text(out, "\t");
	ep_outbuf_uint(out, event->thread->tid);
	ep_outbuf_text(out, "\t");
	print_cell(out, event->thread->name);
	ep_outbuf_text(out, "\t");
	ep_outbuf_uint(out, event->depth);
	ep_outbuf_text(out, "\t");
	if (function)
		print_cell(out, function->name);
	else
		ep_outbuf_text(out, "-");
	ep_outbuf_text(out, "\t");
	if (function)
		print_cell(out, function->module);
	else
		ep_outbuf_text(out, "-");
	ep_outbuf_text(out, "\t");
	ep_outbuf_hex(out, event->address);
	ep_outbuf_text(out, "\t");
	if (event->kind == EP_EVENT_POINT) {
		ep_outbuf_text(out, event->point == EP_POINT_STACK ? "new-stack"
								   : ep_point_word(event->point));
		ep_outbuf_text(out, *event->text ? " " : "");
		ep_outbuf_text(out, event->text);
	} else {
		print_flags(out, event, time->exact, time->refined);
	}
	print_spent(out, replay->trace, event);
	return EP_OK;
}

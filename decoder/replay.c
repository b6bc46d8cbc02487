/* SPDX-License-Identifier: BSD-2-Clause */
/* replay.c: a list of calls as text. */
#include "decoder/replay.h"

#include <inttypes.h>
#include <string.h>

#include "decoder/timetext.h"

#define INDENT     2
#define INDENT_MAX 120 /* columns; deeper calls say their depth */

const char *ep_replay_gap(char *out, size_t size, const struct ep_call *gap)
{
	size_t at = 0;

	out[0] = 0;
	if (gap->gap & EP_GAP_LOST_BLOCKS)
		at += (size_t)snprintf(out + at, size - at,
				       "%" PRIu64 " blocks of history are gone",
				       gap->lost);
	if (gap->gap & EP_GAP_HOLE && at < size)
		at += (size_t)snprintf(out + at, size - at,
				       "%s%" PRIu64
				       " records lost to a signal handler",
				       at ? ", " : "", gap->lost);
	if (gap->gap & EP_GAP_PAUSED && at < size)
		at += (size_t)snprintf(out + at, size - at,
				       "%stracing was paused", at ? ", " : "");
	if (gap->gap & EP_GAP_UNKNOWN_ESCAPE && at < size)
		snprintf(out + at, size - at, "%sa record of a newer version",
			 at ? ", " : "");
	return out;
}

/* Seconds before the end of the trace. */
static void print_time(FILE *out, const struct ep_trace *trace,
		       const struct ep_time *time,
		       const struct ep_replay_style *style)
{
	int64_t ns = ep_trace_ns(trace, time->best, trace->last_tsc);
	char text[48];

	if (ns < 0)
		ns = 0;
	snprintf(text, sizeof(text), "%s-%" PRId64 ".%09" PRId64,
		 time->exact                     ? ""
		 : time->high == EP_TIME_UNKNOWN ? ">"
						 : "~",
		 ns / 1000000000, ns % 1000000000);
	fprintf(out, "%s%15s%s ", style->dim, text, style->plain);
}

static void print_duration(FILE *out, const struct ep_trace *trace,
			   const struct ep_call *call)
{
	char text[EP_TIMETEXT_SIZE], mark[EP_TIMETEXT_SIZE + 2];

	if (!call || !call->ended ||
	    call->flags & (EP_CALL_BEFORE | EP_CALL_STRAY)) {
		fprintf(out, "%13s ", "");
		return;
	}
	/* After the last clock read a time is only known not to be earlier. */
	if (call->end.high == EP_TIME_UNKNOWN)
		snprintf(mark, sizeof(mark), "?");
	else
		snprintf(mark, sizeof(mark), "%s%s",
			 ep_call_approximate(call) ? "~" : "",
			 ep_timetext(text, ep_call_duration(trace, call)));
	fprintf(out, "%13s ", mark);
}

static void print_indent(FILE *out, const struct ep_call *call)
{
	uint32_t depth = call->depth;

	if (depth * INDENT > INDENT_MAX) {
		fprintf(out, "%*s[%u] ", INDENT_MAX - 8, "", depth);
		return;
	}
	fprintf(out, "%*s", (int)(depth * INDENT), "");
}

static void print_thread(FILE *out, const struct ep_trace_thread *thread,
			 const struct ep_replay_style *style)
{
	char text[16 + sizeof(thread->name)];

	if (!style->threads)
		return;
	snprintf(text, sizeof(text), "%u %s", thread->tid, thread->name);
	fprintf(out, "%-22s ", text);
}

static const char *how_it_ended(const struct ep_call *call)
{
	if (call->flags & EP_CALL_BEFORE)
		return ": began before the history";
	if (call->flags & EP_CALL_STRAY)
		return ": a return without a call";
	if (call->flags & EP_CALL_ABANDONED)
		return ": left without a return";
	return "";
}

/* C++ names have their parameters; the others get the parentheses that make
 * them look like calls. */
static const char *parentheses(const struct ep_function *function)
{
	return strchr(function->name, '(') ? "" : "()";
}

static void print_line(FILE *out, const struct ep_trace *trace,
		       const struct ep_call *call, bool end, bool leaf,
		       const struct ep_replay_style *style)
{
	const char *parens = parentheses(call->function);
	bool duration = end || leaf;

	print_time(out, trace, end ? &call->end : &call->begin, style);
	print_thread(out, call->thread, style);
	print_duration(out, trace, duration ? call : NULL);
	print_indent(out, call);
	if (leaf && call->flags & EP_CALL_ABANDONED)
		fprintf(out, "%s%s%s%s; %s/* left without a return */%s",
			style->name, call->function->name, style->plain, parens,
			style->warn, style->plain);
	else if (leaf)
		fprintf(out, "%s%s%s%s;", style->name, call->function->name,
			style->plain, parens);
	else if (end)
		fprintf(out, "%s} /* %s%s */%s", style->dim,
			call->function->name, how_it_ended(call), style->plain);
	else if (!call->ended)
		fprintf(out, "%s%s%s%s { %s/* did not return */%s", style->name,
			call->function->name, style->plain, parens, style->warn,
			style->plain);
	else
		fprintf(out, "%s%s%s%s {", style->name, call->function->name,
			style->plain, parens);
	fputc('\n', out);
}

static void print_gap(FILE *out, const struct ep_trace *trace,
		      const struct ep_call *gap,
		      const struct ep_replay_style *style)
{
	char text[160];

	print_time(out, trace, &gap->begin, style);
	print_thread(out, gap->thread, style);
	fprintf(out, "%13s %s--- %s ---%s\n", "", style->warn,
		ep_replay_gap(text, sizeof(text), gap), style->plain);
}

/* The next moment that is shown; moment_count: none. */
static size_t next_shown(const struct ep_call_list *list, const uint8_t *shown,
			 size_t at)
{
	while (at < list->moment_count && !shown[list->moments[at].call])
		at++;
	return at;
}

void ep_replay_tree(FILE *out, const struct ep_trace *trace,
		    const struct ep_call_list *list, const uint8_t *shown,
		    const struct ep_replay_style *style)
{
	size_t at = next_shown(list, shown, 0), next;

	for (; at < list->moment_count; at = next) {
		const struct ep_moment *moment = &list->moments[at];
		const struct ep_call *call = &list->calls[moment->call];
		bool leaf;

		next = next_shown(list, shown, at + 1);
		if (!call->function) {
			print_gap(out, trace, call, style);
			continue;
		}
		leaf = !moment->end && next < list->moment_count &&
		       list->moments[next].call == moment->call;
		print_line(out, trace, call, moment->end, leaf, style);
		if (leaf)
			next = next_shown(list, shown, next + 1);
	}
}

/* ---- for programs -------------------------------------------------------- */

static const char *kind_of(const struct ep_call *call, bool end)
{
	if (!call->function)
		return "G";
	if (call->flags & EP_CALL_STRAY)
		return "S";
	return end ? "E" : "B";
}

/* Words for the flags column, comma-separated; "-" for none. */
static void print_flags(FILE *out, const struct ep_call *call, bool end,
			const struct ep_time *time)
{
	const struct {
		bool on;
		const char *word;
	} words[] = {
		{!time->exact, "approximate"},
		{!end && call->function && !call->ended, "did-not-return"},
		{call->flags & EP_CALL_BEFORE, "began-before"},
		{end && call->flags & EP_CALL_ABANDONED, "abandoned"},
		{end && call->flags & EP_CALL_ACROSS_GAP, "across-gap"},
		{end && call->flags & EP_CALL_AMBIGUOUS, "ambiguous"},
		{call->gap & EP_GAP_LOST_BLOCKS, "lost-blocks"},
		{call->gap & EP_GAP_PAUSED, "paused"},
		{call->gap & EP_GAP_HOLE, "hole"},
		{call->gap & EP_GAP_UNKNOWN_ESCAPE, "newer-version"},
	};
	const char *comma = "";

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i].on) {
			fprintf(out, "%s%s", comma, words[i].word);
			comma = ",";
		}
	fputs(*comma ? "\n" : "-\n", out);
}

void ep_replay_tsv(FILE *out, const struct ep_trace *trace,
		   const struct ep_call_list *list, const uint8_t *shown)
{
	fputs("# event\ttime_ns\tearliest_ns\tlatest_ns\ttid\tthread\tdepth\t"
	      "function\tmodule\taddress\tflags\n",
	      out);
	for (size_t i = 0; i < list->moment_count; i++) {
		const struct ep_moment *moment = &list->moments[i];
		const struct ep_call *call = &list->calls[moment->call];
		const struct ep_time *time =
			moment->end ? &call->end : &call->begin;
		uint64_t zero = trace->first_tsc;

		if (!shown[moment->call])
			continue;
		fprintf(out, "%s\t%" PRId64 "\t%" PRId64 "\t",
			kind_of(call, moment->end),
			ep_trace_ns(trace, zero, time->best),
			ep_trace_ns(trace, zero, time->low));
		if (time->high == EP_TIME_UNKNOWN)
			fputs("-", out);
		else
			fprintf(out, "%" PRId64,
				ep_trace_ns(trace, zero, time->high));
		fprintf(out, "\t%u\t%s\t%u\t%s\t%s\t0x%" PRIx64 "\t",
			call->thread->tid, call->thread->name, call->depth,
			call->function ? call->function->name : "-",
			call->function ? call->function->module : "-",
			call->address);
		print_flags(out, call, moment->end, time);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack.c: an alignment in lines: each frame with what the trace says of it, each call without a
 * frame where it belongs, and where the two part. The stacks of the other threads take a line each.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/report/model.h"

/* Of a run of calls without a frame that many are told, of each end. */
#define ALONE_INNER 16u
#define ALONE_OUTER 4u

/* ---- times ---- */

const char *ep_report_ago(struct ep_report *report, const struct ep_time *time,
			  char out[EP_TIMETEXT_SIZE + 2])
{
	char text[EP_TIMETEXT_SIZE];
	int64_t ns = ep_trace_ago(report->trace, time->best);

	if (!time->exact)
		report->ghosts = true;
	if (time->high == EP_TIME_UNKNOWN) {
		snprintf(out, EP_TIMETEXT_SIZE + 2, "?");
		return out;
	}
	snprintf(out, EP_TIMETEXT_SIZE + 2, "%s%s", time->exact ? "" : "~", ep_timetext(text, ns));
	return out;
}

/* "called 3.1 us before the end"; after the thread's last clock read only the earliest moment is
 * known. */
static void print_called(struct ep_report *report, const struct ep_time *time)
{
	char text[EP_TIMETEXT_SIZE + 2];
	int64_t most = ep_trace_ago(report->trace, time->low);

	if (time->high != EP_TIME_UNKNOWN)
		fprintf(report->out, "called %s before the end", ep_report_ago(report, time, text));
	else if (most > 0)
		fprintf(report->out, "called at most %s before the end", ep_timetext(text, most));
	else
		fprintf(report->out, "called after the last clock read");
}

/* ---- rows ---- */

/* An unknown one is named module+0x1234 already. */
static void name_row(const struct ep_row *row, char *out, size_t size)
{
	const struct ep_function *function = row->function;
	uint64_t pc = row->frame ? row->frame->pc : 0;

	if (row->inlined)
		snprintf(out, size, "%s (inlined)", row->inlined);
	else if (row->frame && row->frame->signal)
		snprintf(out, size, "%s", EP_SIGNAL_FRAME_NAME);
	else if (row->frame && row->frame->nowhere)
		snprintf(out, size, "0x%" PRIx64, pc);
	else if (function->known && function->start && pc >= function->start)
		snprintf(out, size, "%s+0x%" PRIx64, function->name, pc - function->start);
	else
		snprintf(out, size, "%s", function->name);
}

static void print_frame(struct ep_report *report, const struct ep_row *row)
{
	const struct ep_function *function = row->function;
	char name[512];

	name_row(row, name, sizeof(name));
	fprintf(report->out, "  #%-4zu %s%-28s%s ", row->number, report->style.name, name,
		report->style.plain);
	if (row->reason == EP_REASON_OWN_HOOK || row->reason == EP_REASON_SIGNAL)
		return;
	if (row->line.file && row->line.line)
		fprintf(report->out, " %s:%" PRIu32, row->line.file, row->line.line);
	else if (function->known && function->module[0])
		fprintf(report->out, " %s", function->module);
}

/* What the trace says of a frame that it does not have. */
static void print_verdict(struct ep_report *report, const struct ep_row *row)
{
	const char *verdict = ep_verdict_words(row->verdict);
	const char *reason = ep_reason_words(row->reason);

	if (row->verdict == EP_VERDICT_INLINED || !report->trace)
		return;
	if (row->reason == EP_REASON_OWN_HOOK || row->reason == EP_REASON_SIGNAL)
		fprintf(report->out, "  %s[%s]%s", report->style.dim, reason, report->style.plain);
	else
		fprintf(report->out, "  %s[%s%s%s]%s",
			row->verdict == EP_VERDICT_OVERWRITTEN ? report->style.warn
							       : report->style.dim,
			verdict, *reason ? ": " : "", reason, report->style.plain);
}

static void print_row(struct ep_report *report, const struct ep_row *row)
{
	if (row->frame)
		print_frame(report, row);
	else
		fprintf(report->out, "       %s%s%s", report->style.name, row->function->name,
			report->style.plain);
	if (row->call) {
		fprintf(report->out, "  %s[", report->style.dim);
		print_called(report, &row->call->begin);
		if (row->verdict == EP_VERDICT_FRAME_LOST)
			fprintf(report->out, "; %s: %s", ep_verdict_words(row->verdict),
				ep_reason_words(row->reason));
		fprintf(report->out, "]%s", report->style.plain);
	} else {
		print_verdict(report, row);
	}
	fputc('\n', report->out);
}

/* ---- edges ---- */

static void print_edge(struct ep_report *report, const char *style, const char *words)
{
	fprintf(report->out, "       %s-- %s --%s\n", style, words, report->style.plain);
}

/* The reason may have the name of a file in it. */
static void print_why(struct ep_report *report, const char *why)
{
	char *tame = ep_report_tamed(report, why);

	fprintf(report->out, "       %sthe stack could not be followed further: %s%s\n",
		report->style.warn, tame ? tame : "", report->style.plain);
	free(tame);
}

/* Where calls without a frame begin that are outside of all frames. */
static size_t tail_of(const struct ep_alignment *alignment)
{
	size_t tail = alignment->count;

	while (tail > 0 && !alignment->rows[tail - 1].frame)
		tail--;
	return tail;
}

static void print_edges(struct ep_report *report, const struct ep_stack *stack,
			const struct ep_alignment *alignment, size_t at)
{
	size_t tail = tail_of(alignment);
	bool beyond = stack && tail < alignment->count;

	if (at == alignment->overwritten)
		print_edge(report, report->style.warn, "the stack is overwritten from here on");
	if (at == tail && stack && !stack->complete)
		print_why(report, stack->why);
	if (at == tail && beyond)
		print_edge(report, report->style.dim, "from here on by the trace alone");
	if (at == alignment->edge && (at < alignment->count || tail < alignment->count))
		print_edge(report, report->style.dim,
			   "the trace does not reach back to the calls below");
}

/* ---- the list ---- */

/* Of a very deep stack both ends are shown. */
static bool is_shown(const struct ep_report *report, size_t i, size_t count)
{
	size_t outer = report->frames / 4;

	return count <= report->frames || i < report->frames - outer || i >= count - outer;
}

/* Calls without a frame, up to the next frame: of many, both ends. */
static size_t print_run(struct ep_report *report, const struct ep_alignment *alignment, size_t from)
{
	size_t to = from, count;

	while (to < alignment->count && !alignment->rows[to].frame)
		to++;
	count = to - from;
	for (size_t i = 0; i < count; i++)
		if (i < ALONE_INNER || i + ALONE_OUTER >= count || report->frames == SIZE_MAX)
			print_row(report, &alignment->rows[from + i]);
		else if (i == ALONE_INNER)
			fprintf(report->out, "       … %zu more (--all shows them) …\n",
				count - ALONE_INNER - ALONE_OUTER);
	return to;
}

void ep_report_stack(struct ep_report *report, const struct ep_stack *stack,
		     const struct ep_alignment *alignment)
{
	size_t frames = stack ? stack->count : 0, i = 0;
	bool skipping = false;

	while (i < alignment->count) {
		const struct ep_row *row = &alignment->rows[i];

		if (row->frame && !is_shown(report, row->number, frames)) {
			if (!skipping)
				fprintf(report->out,
					"       … %zu frames are left out "
					"(--all shows them) …\n",
					frames - report->frames);
			skipping = true;
			i++;
			continue;
		}
		print_edges(report, stack, alignment, i);
		if (row->frame)
			print_row(report, &alignment->rows[i++]);
		else
			i = print_run(report, alignment, i);
	}
	print_edges(report, stack, alignment, i);
}

/* ---- in one line ---- */

static void print_line(struct ep_report *report, const struct ep_alignment *alignment)
{
	const char *between = "";

	for (size_t i = 0; i < alignment->count; i++) {
		const struct ep_row *row = &alignment->rows[i];

		if (!row->frame)
			continue;
		fputs(between, report->out);
		if (row->inlined)
			fprintf(report->out, "%s (inlined)", row->inlined);
		else if (row->frame->signal)
			fputs(EP_SIGNAL_FRAME_NAME, report->out);
		else
			fputs(row->function->name, report->out);
		between = " < ";
	}
}

void ep_report_stack_line(struct ep_report *report, const struct ep_report_story *story)
{
	const struct ep_alignment *alignment = &story->alignment;
	const struct ep_stack *stack = &story->stack;
	char *tame;

	fprintf(report->out, "  stack      ");
	print_line(report, alignment);
	if (story->more) {
		fprintf(report->out, " < … %s%zu more (--all shows them)",
			story->uncounted ? "more than " : "", story->more);
	} else if (!stack->complete) {
		tame = ep_report_tamed(report, stack->why);
		fprintf(report->out, " < ? (%s)", tame ? tame : "");
		free(tame);
	}
	if (alignment->overwritten != EP_ROW_NONE)
		fprintf(report->out, " %s(overwritten: see open calls)%s", report->style.warn,
			report->style.plain);
	fputc('\n', report->out);
}

void ep_report_flight(struct ep_report *report, const struct ep_open_calls *flight,
		      const char *head)
{
	char ago[EP_TIMETEXT_SIZE + 2];

	if (!flight->known)
		return;
	fprintf(report->out, "%s", head);
	for (size_t i = 0; i < flight->count; i++) {
		const struct ep_event *call = ep_open_calls_inner(flight, i);

		if (i == report->frames) {
			fprintf(report->out, " < … %zu more", flight->count - i);
			break;
		}
		fprintf(report->out, "%s%s [%s]", i ? " < " : "", call->function->name,
			ep_report_ago(report, &call->begin, ago));
	}
	if (flight->count == 0)
		fprintf(report->out, "%s",
			flight->outermost_known ? "nothing that is traced"
						: "nothing that the trace knows");
	else if (!flight->outermost_known)
		fprintf(report->out, " < (unknown: before the history)");
	fputc('\n', report->out);
}

/* Of many the latest. */
#define SPANS_TOLD 8u

void ep_report_spans(const struct ep_report *report, const struct ep_open_calls *flight)
{
	const struct ep_trace *trace = report->trace;
	char ago[EP_TIMETEXT_SIZE];

	if (!flight->span_count)
		return;
	fprintf(report->out, "  in span    ");
	for (size_t i = 0; i < flight->span_count && i < SPANS_TOLD; i++)
		fprintf(report->out, "%s%s [%s]", i ? ", " : "", flight->spans[i].name,
			ep_timetext(ago, ep_trace_ago(trace, flight->spans[i].since.best)));
	if (flight->span_count > SPANS_TOLD)
		fprintf(report->out, ", … %zu more", flight->span_count - SPANS_TOLD);
	fputc('\n', report->out);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text_stack.c: an alignment in lines: each frame with what the trace says of it, each call without
 * a frame where it belongs, and where the two part. The stacks of the other threads take a line
 * each.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/report/print/page.h"

/* Of a run of calls without a frame that many are shown, of each end. */
#define ALONE_INNER 16u
#define ALONE_OUTER 4u

/* "called 3.1 us before the end"; after the thread's last clock read only the earliest moment is
 * known. */
static void print_called(struct ep_page *page, const struct ep_time *time)
{
	char text[EP_TIMETEXT_SIZE + 2];
	int64_t most = ep_trace_ago(page->trace, time->low);

	if (time->high != EP_TIME_UNKNOWN)
		fprintf(page->out, "called %s before the end", ep_page_ago(page, time, text));
	else if (most > 0)
		fprintf(page->out, "called at most %s before the end", ep_timetext(text, most));
	else
		fprintf(page->out, "called after the last clock read");
}

/* ---- rows ---- */

/* An unknown one is named module+0x1234 already. */
static void name_row(const struct ep_alignment_row *row, char *out, size_t size)
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

static void print_frame(struct ep_page *page, const struct ep_alignment_row *row)
{
	const struct ep_function *function = row->function;
	char name[512];

	name_row(row, name, sizeof(name));
	fprintf(page->out, "  #%-4zu %s%-28s%s ", row->number, page->style->name, name,
		page->style->plain);
	if (row->reason == EP_REASON_OWN_HOOK || row->reason == EP_REASON_SIGNAL)
		return;
	if (row->line.file && row->line.line)
		fprintf(page->out, " %s:%" PRIu32, row->line.file, row->line.line);
	else if (function->known && function->module[0])
		fprintf(page->out, " %s", function->module);
}

/* What the trace says of a frame that it does not have. */
static void print_verdict(struct ep_page *page, const struct ep_alignment_row *row)
{
	const char *verdict = ep_verdict_words(row->verdict);
	const char *reason = ep_reason_words(row->reason);

	if (row->verdict == EP_VERDICT_INLINED || !page->trace)
		return;
	if (row->reason == EP_REASON_OWN_HOOK || row->reason == EP_REASON_SIGNAL)
		fprintf(page->out, "  %s[%s]%s", page->style->dim, reason, page->style->plain);
	else
		fprintf(page->out, "  %s[%s%s%s]%s",
			row->verdict == EP_VERDICT_OVERWRITTEN ? page->style->warn
							       : page->style->dim,
			verdict, *reason ? ": " : "", reason, page->style->plain);
}

static void print_row(struct ep_page *page, const struct ep_alignment_row *row)
{
	if (row->frame)
		print_frame(page, row);
	else
		fprintf(page->out, "       %s%s%s", page->style->name, row->function->name,
			page->style->plain);
	if (row->call) {
		fprintf(page->out, "  %s[", page->style->dim);
		print_called(page, &row->call->begin);
		if (row->verdict == EP_VERDICT_FRAME_LOST)
			fprintf(page->out, "; %s: %s", ep_verdict_words(row->verdict),
				ep_reason_words(row->reason));
		fprintf(page->out, "]%s", page->style->plain);
	} else {
		print_verdict(page, row);
	}
	fputc('\n', page->out);
}

/* ---- edges ---- */

static void print_edge(struct ep_page *page, const char *style, const char *words)
{
	fprintf(page->out, "       %s-- %s --%s\n", style, words, page->style->plain);
}

/* The reason may have the name of a file in it. */
static void print_why(struct ep_page *page, const char *why)
{
	char *shown = ep_page_escape(why);

	fprintf(page->out, "       %sthe stack could not be followed further: %s%s\n",
		page->style->warn, shown, page->style->plain);
	free(shown);
}

/* Where calls without a frame begin that are outside of all frames. */
static size_t tail_of(const struct ep_alignment *alignment)
{
	size_t tail = alignment->count;

	while (tail > 0 && !alignment->rows[tail - 1].frame)
		tail--;
	return tail;
}

static void print_edges(struct ep_page *page, const struct ep_report_thread *thread, size_t at)
{
	const struct ep_alignment *alignment = &thread->alignment;
	size_t tail = tail_of(alignment);

	if (at == alignment->overwritten)
		print_edge(page, page->style->warn, "the stack is overwritten from here on");
	if (at == tail && thread->unwound && !thread->stack.complete)
		print_why(page, thread->stack.why);
	if (at == tail && thread->unwound && tail < alignment->count)
		print_edge(page, page->style->dim, "from here on by the trace alone");
	if (at == alignment->edge && (at < alignment->count || tail < alignment->count))
		print_edge(page, page->style->dim,
			   "the trace does not reach back to the calls below");
}

/* ---- the list ---- */

/* Of a very deep stack both ends are shown. */
static bool is_shown(struct ep_page *page, size_t i, size_t count)
{
	size_t outer = page->report->limits.frames / 4;

	return count <= page->report->limits.frames || i < page->report->limits.frames - outer ||
	       i >= count - outer;
}

/* Calls without a frame, up to the next frame: of many, both ends. */
static size_t print_run(struct ep_page *page, const struct ep_alignment *alignment, size_t from)
{
	size_t to = from, count;

	while (to < alignment->count && !alignment->rows[to].frame)
		to++;
	count = to - from;
	for (size_t i = 0; i < count; i++)
		if (i < ALONE_INNER || i + ALONE_OUTER >= count ||
		    page->report->limits.frames == SIZE_MAX)
			print_row(page, &alignment->rows[from + i]);
		else if (i == ALONE_INNER)
			fprintf(page->out, "       … %zu more (--all shows them) …\n",
				count - ALONE_INNER - ALONE_OUTER);
	return to;
}

void ep_page_stack(struct ep_page *page, const struct ep_report_thread *thread)
{
	const struct ep_alignment *alignment = &thread->alignment;
	size_t frames = thread->stack.count, i = 0;
	bool skipping = false;

	while (i < alignment->count) {
		const struct ep_alignment_row *row = &alignment->rows[i];

		if (row->frame && !is_shown(page, row->number, frames)) {
			if (!skipping)
				fprintf(page->out,
					"       … %zu frames are left out (--all shows them) …\n",
					frames - page->report->limits.frames);
			skipping = true;
			i++;
			continue;
		}
		print_edges(page, thread, i);
		if (row->frame)
			print_row(page, &alignment->rows[i++]);
		else
			i = print_run(page, alignment, i);
	}
	print_edges(page, thread, i);
}

/* ---- in one line ---- */

static void print_line(struct ep_page *page, const struct ep_alignment *alignment)
{
	const char *between = "";

	for (size_t i = 0; i < alignment->count; i++) {
		const struct ep_alignment_row *row = &alignment->rows[i];

		if (!row->frame)
			continue;
		fputs(between, page->out);
		if (row->inlined)
			fprintf(page->out, "%s (inlined)", row->inlined);
		else if (row->frame->signal)
			fputs(EP_SIGNAL_FRAME_NAME, page->out);
		else
			fputs(row->function->name, page->out);
		between = " < ";
	}
}

void ep_page_stack_line(struct ep_page *page, const struct ep_report_thread *thread)
{
	const struct ep_alignment *alignment = &thread->alignment;
	const struct ep_stack *stack = &thread->stack;
	char *shown;

	fprintf(page->out, "  stack      ");
	print_line(page, alignment);
	if (thread->more) {
		fprintf(page->out, " < … %s%zu more (--all shows them)",
			thread->uncounted ? "more than " : "", thread->more);
	} else if (!stack->complete) {
		shown = ep_page_escape(stack->why);
		fprintf(page->out, " < ? (%s)", shown);
		free(shown);
	}
	if (alignment->overwritten != EP_ROW_NONE)
		fprintf(page->out, " %s(overwritten: see open calls)%s", page->style->warn,
			page->style->plain);
	fputc('\n', page->out);
}

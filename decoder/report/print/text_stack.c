/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text_stack.c: an alignment in lines: each frame with what the trace says of it, each call without
 * a frame where it belongs, and where the two part. The stacks of the other threads take a line
 * each.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/names/system_module.h"
#include "decoder/report/print/page.h"
#include "decoder/util/fit.h"

/* Of a run of calls without a frame that many are shown, of each end. */
#define ALONE_INNER 16u
#define ALONE_OUTER 4u

/* Lines that are shorter have no room for words that the page says elsewhere. */
#define WIDE 120u

/* "called 3.1 us before the end"; after the thread's last clock read only the earliest moment is
 * known. */
static void called_text(struct ep_page *page, const struct ep_time *time, char *out, size_t size)
{
	const char *end = page->columns && page->columns < WIDE ? "ago" : "before the end";
	char text[EP_PAGE_AGO_SIZE];
	int64_t most = ep_trace_ago(page->trace, time->low);

	if (time->high != EP_TIME_UNKNOWN)
		snprintf(out, size, "called %s %s", ep_page_ago(page, time, text), end);
	else if (most > 0 && !page->trace->end.later)
		snprintf(out, size, "called at most %s %s", ep_timetext(text, most), end);
	else
		snprintf(out, size, "called after the last clock read");
}

/* ---- rows ---- */

/* What a row says, before it is made to fit. */
struct row_text {
	char *name, *place, *verdict; /* owned */
	char offset[24];              /* "+0x1c", ":42": what is never cut */
	char line[16];
	const char *style; /* of the verdict */
};

/* An unknown one is named module+0x1234 already. */
static void name_row(struct row_text *text, const struct ep_page *page,
		     const struct ep_alignment_row *row)
{
	const struct ep_function *function = row->function;
	uint64_t pc = row->frame ? row->frame->pc : 0;

	text->offset[0] = '\0';
	if (row->inlined) {
		text->name = ep_page_name(page, row->inlined);
		snprintf(text->offset, sizeof(text->offset), " (inlined)");
	} else if (row->frame && row->frame->signal) {
		text->name = ep_strdup(EP_SIGNAL_FRAME_NAME);
	} else if (row->frame && row->frame->nowhere) {
		text->name = ep_asprintf("0x%" PRIx64, pc);
	} else {
		text->name = ep_page_name(page, function->name);
		if (row->frame && function->known && function->start && pc >= function->start)
			snprintf(text->offset, sizeof(text->offset), "+0x%" PRIx64,
				 pc - function->start);
	}
}

static void place_row(struct row_text *text, const struct ep_page *page,
		      const struct ep_alignment_row *row)
{
	const char *place = "";

	text->line[0] = '\0';
	if (row->frame && row->reason != EP_REASON_OWN_HOOK && row->reason != EP_REASON_SIGNAL) {
		if (row->line.file && row->line.line) {
			place = ep_page_path(page, row->line.file);
			snprintf(text->line, sizeof(text->line), ":%" PRIu32, row->line.line);
		} else if (row->function->known) {
			place = row->function->module;
		}
	}
	text->place = ep_strdup(place);
}

/* What the trace says of a frame that it does not have. */
static void judge_row(struct row_text *text, const struct ep_page *page,
		      const struct ep_alignment_row *row)
{
	const char *verdict = ep_verdict_words(row->verdict);
	const char *reason = ep_reason_words(row->reason);

	if (row->verdict == EP_VERDICT_INLINED || !page->trace)
		text->verdict = ep_strdup("");
	else if (row->reason == EP_REASON_OWN_HOOK || row->reason == EP_REASON_SIGNAL)
		text->verdict = ep_asprintf("  [%s]", reason);
	else if (page->brief && row->reason == EP_REASON_NO_HOOK)
		text->verdict = ep_asprintf("  [%s]", verdict);
	else
		text->verdict = ep_asprintf("  [%s%s%s]", verdict, *reason ? ": " : "", reason);
}

/* Of a row that has a call. */
static void call_row(struct row_text *text, struct ep_page *page,
		     const struct ep_alignment_row *row)
{
	bool lost = row->verdict == EP_VERDICT_FRAME_LOST;
	char called[96];

	called_text(page, &row->call->begin, called, sizeof(called));
	text->verdict = ep_asprintf("  [%s%s%s%s%s]", called, lost ? "; " : "",
				    lost ? ep_verdict_words(row->verdict) : "", lost ? ": " : "",
				    lost ? ep_reason_words(row->reason) : "");
}

static void row_text_init(struct row_text *text, struct ep_page *page,
			  const struct ep_alignment_row *row)
{
	name_row(text, page, row);
	place_row(text, page, row);
	text->style = page->style->dim;
	if (row->call)
		call_row(text, page, row);
	else
		judge_row(text, page, row);
	if (!row->call && row->verdict == EP_VERDICT_OVERWRITTEN)
		text->style = page->style->warn;
}

static void row_text_deinit(struct row_text *text)
{
	free(text->name);
	free(text->place);
	free(text->verdict);
}

/* ---- making it fit ---- */

#define NUMBER_COLUMNS 8u  /* "  #12   " */
#define NAME_COLUMNS   28u /* of names that are short */
#define NAME_LEAST     16u
#define PLACE_LEAST    12u

static void cut(char **text, size_t columns)
{
	char *shorter = ep_fit_name(*text, columns);

	free(*text);
	*text = shorter;
}

/* A path's end says more than its beginning. */
static void cut_path(char **path, size_t columns)
{
	char *shorter;

	if (ep_fit_columns(*path) <= columns)
		return;
	shorter = ep_asprintf("…%s", ep_fit_tail(*path, columns - 1));
	free(*path);
	*path = shorter;
}

/* How many columns a text may have so that a line loses `over`; at least `least`. */
static size_t less(const char *text, size_t over, size_t least)
{
	size_t columns = ep_fit_columns(text);

	return columns <= least ? columns : columns - least > over ? columns - over : least;
}

static size_t row_columns(const struct row_text *text)
{
	size_t name = ep_fit_columns(text->name) + strlen(text->offset);

	return NUMBER_COLUMNS + (name > NAME_COLUMNS ? name : NAME_COLUMNS) + 2 +
	       ep_fit_columns(text->place) + strlen(text->line) + ep_fit_columns(text->verdict);
}

/* The place is cut first, the name then. What is still too long goes on in the next line. */
static void row_text_fit(struct row_text *text, size_t columns)
{
	size_t is = row_columns(text);

	if (columns == EP_FIT_ALL || is <= columns)
		return;
	cut_path(&text->place, less(text->place, is - columns, PLACE_LEAST));
	is = row_columns(text);
	if (is > columns)
		cut(&text->name, less(text->name, is - columns, NAME_LEAST));
}

static void print_row(struct ep_page *page, const struct ep_alignment_row *row)
{
	const struct ep_replay_style *style = page->style;
	struct row_text text;
	size_t name;

	row_text_init(&text, page, row);
	row_text_fit(&text, page->columns);
	name = ep_fit_columns(text.name) + strlen(text.offset);
	if (!*text.place && !*text.verdict)
		name = NAME_COLUMNS;
	if (row->frame)
		fprintf(page->out, "  #%-4zu %s%s%s%*s%s ", row->number, style->name, text.name,
			text.offset, name < NAME_COLUMNS ? (int)(NAME_COLUMNS - name) : 0, "",
			style->plain);
	else
		fprintf(page->out, "       %s%s%s", style->name, text.name, style->plain);
	fprintf(page->out, "%s%s%s", *text.place ? " " : "", text.place, text.line);
	fprintf(page->out, "%s%s%s\n", text.style, text.verdict, style->plain);
	row_text_deinit(&text);
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

/* Frames that a page shows, and of how many. */
struct shown_frames {
	size_t count; /* of the stack, without what starts a thread on a page of one screen */
	size_t most;
	size_t rows; /* of all that is shown */
};

/* Of a very deep stack both ends are shown. */
static bool is_shown(const struct shown_frames *frames, size_t i)
{
	size_t outer = frames->most / 4;

	return frames->count <= frames->most || i < frames->most - outer ||
	       i >= frames->count - outer;
}

static size_t rows_of(const struct shown_frames *frames, const struct ep_alignment *alignment)
{
	size_t rows = 0;

	for (size_t i = 0; i < alignment->count; i++)
		rows += alignment->rows[i].frame && is_shown(frames, alignment->rows[i].number);
	return rows;
}

#define PAGE_FRAMES 4u /* are shown at least, on a page of one screen */

static void choose_frames(struct shown_frames *frames, const struct ep_page *page,
			  const struct ep_report_thread *thread)
{
	const struct ep_alignment *alignment = &thread->alignment;
	size_t count = alignment->count;

	*frames = (struct shown_frames){thread->stack.count, page->report->limits.frames, count};
	if (!page->brief)
		return;
	while (thread->stack.complete && count > 1 && alignment->rows[count - 1].frame &&
	       !alignment->rows[count - 1].call &&
	       ep_function_is_start(alignment->rows[count - 1].function)) {
		frames->count--;
		count--;
	}
	frames->rows = count;
	while (frames->most > PAGE_FRAMES &&
	       rows_of(frames, alignment) > page->shares.most[EP_SHARE_ROWS])
		frames->most = frames->most > frames->count ? frames->count - 1 : frames->most - 1;
}

/* Calls without a frame, up to the next frame: of many, both ends. */
static size_t print_run(struct ep_page *page, const struct ep_alignment *alignment, size_t from)
{
	size_t rows = page->shares.most[EP_SHARE_ROWS];
	size_t inner = page->brief ? rows / 2 : ALONE_INNER;
	size_t outer = page->brief ? 1 + rows / 16 : ALONE_OUTER;
	size_t to = from, count;

	while (to < alignment->count && !alignment->rows[to].frame)
		to++;
	count = to - from;
	for (size_t i = 0; i < count; i++)
		if (i < inner || i + outer >= count || page->report->limits.frames == SIZE_MAX)
			print_row(page, &alignment->rows[from + i]);
		else if (i == inner)
			fprintf(page->out, "       … %zu more (--all shows them) …\n",
				count - inner - outer);
	return to;
}

void ep_page_stack(struct ep_page *page, const struct ep_report_thread *thread)
{
	const struct ep_alignment *alignment = &thread->alignment;
	struct shown_frames frames;
	bool skipping = false;
	size_t i = 0;

	choose_frames(&frames, page, thread);
	while (i < frames.rows) {
		const struct ep_alignment_row *row = &alignment->rows[i];

		if (row->frame && !is_shown(&frames, row->number)) {
			if (!skipping)
				fprintf(page->out,
					"       … %zu frames are left out (--all shows them) …\n",
					frames.count - frames.most);
			skipping = true;
			i++;
			continue;
		}
		print_edges(page, thread, i);
		page->shares.printed[EP_SHARE_ROWS]++;
		if (row->frame)
			print_row(page, &alignment->rows[i++]);
		else
			i = print_run(page, alignment, i);
	}
	print_edges(page, thread, alignment->count);
}

/* ---- in one line ---- */

static void print_line(struct ep_page *page, const struct ep_alignment *alignment)
{
	const char *between = "";

	for (size_t i = 0; i < alignment->count; i++) {
		const struct ep_alignment_row *row = &alignment->rows[i];
		char *name;

		if (!row->frame)
			continue;
		name = row->frame->signal && !row->inlined
			       ? ep_strdup(EP_SIGNAL_FRAME_NAME)
			       : ep_page_name(page,
					      row->inlined ? row->inlined : row->function->name);
		fprintf(page->out, "%s%s%s", between, name, row->inlined ? " (inlined)" : "");
		free(name);
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

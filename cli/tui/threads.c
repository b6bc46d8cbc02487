/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.c: the threads, one a row. What a thread is in is found when its row is seen first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tui/tui.h"
#include "coredump/util/alloc.h"
#include "decoder/calls/open_calls.h"
#include "decoder/util/timetext.h"

enum { BY_LAST, BY_TID, BY_NAME, BY_BLOCKS, ORDERS };

static const char *const order_words[ORDERS] = {"last record", "tid", "name", "history"};

struct row {
	const struct ep_trace_thread *thread;
	bool looked; /* and found: */
	size_t open; /* calls */
	const struct ep_function *inner, *outer;
	char text[200]; /* for search */
};

struct threads {
	struct row *rows;
	size_t count;
	struct ep_view_order order;
	uint32_t died;
};

static struct threads *threads_of(const struct ep_view *view)
{
	return view->data;
}

static size_t count_rows(const struct ep_view *view)
{
	return threads_of(view)->count;
}

/* ---- order ---- */

static int compare_by(const struct ep_trace_thread *a, const struct ep_trace_thread *b, unsigned by)
{
	switch (by) {
	case BY_TID:
		return (a->tid > b->tid) - (a->tid < b->tid);
	case BY_NAME:
		return strcmp(a->name, b->name);
	case BY_BLOCKS:
		return (a->block_count < b->block_count) - (a->block_count > b->block_count);
	default:
		return (a->last_tsc < b->last_tsc) - (a->last_tsc > b->last_tsc);
	}
}

/* The one that died is always the first. */
static int compare(const void *x, const void *y, void *context)
{
	const struct threads *threads = context;
	const struct ep_trace_thread *a = ((const struct row *)x)->thread;
	const struct ep_trace_thread *b = ((const struct row *)y)->thread;
	int dead = (b->tid == threads->died) - (a->tid == threads->died);
	int order = compare_by(a, b, threads->order.by);

	if (threads->died && dead)
		return dead;
	if (order)
		return threads->order.reverse ? -order : order;
	return (a->serial > b->serial) - (a->serial < b->serial);
}

static void sort(struct threads *threads)
{
	if (threads->count)
		qsort_r(threads->rows, threads->count, sizeof(*threads->rows), compare, threads);
}

/* ---- rows ---- */

static void look(struct ep_view *view, struct row *row)
{
	const struct ep_session *session = &view->tui->session;
	struct ep_open_calls open;

	if (row->looked)
		return;
	row->looked = true;
	ep_open_calls_init(&open, session->trace, row->thread, session->names);
	row->open = open.count;
	if (open.count > 0)
		row->inner = ep_open_calls_inner(&open, 0)->function;
	if (open.count > 1)
		row->outer = ep_open_calls_inner(&open, 1)->function;
	ep_open_calls_deinit(&open);
}

static const char *state_of(const struct threads *threads, const struct ep_trace_thread *thread)
{
	if (threads->died && thread->tid == threads->died)
		return "died";
	return thread->state == EP_THREAD_DEAD ? "ended" : "";
}

static void draw(struct ep_view *view, size_t at, struct ep_row *line)
{
	struct threads *threads = threads_of(view);
	struct row *row = &threads->rows[at];
	const struct ep_trace_thread *thread = row->thread;
	const struct ep_trace *trace = view->tui->session.trace;
	char tid[16], text[EP_TIMETEXT_SIZE];
	const char *state = state_of(threads, thread);
	bool wide = ep_screen_columns() >= 60;

	look(view, row);
	snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
	ep_row_number(line, EP_INK_PLAIN, 8, tid);
	ep_row_number(line, EP_INK_WARN, 5, state);
	ep_row_number(line, EP_INK_PLAIN, 10,
		      thread->block_count ? ep_timetext(text, ep_trace_ago(trace, thread->last_tsc))
					  : "-");
	if (wide) {
		snprintf(text, sizeof(text), "%zu", row->open);
		ep_row_number(line, EP_INK_PLAIN, 5, text);
	}
	ep_row_name(line, EP_INK_BOLD, thread->name[0] ? thread->name : "(no name)", wide ? 20 : 0);
	if (!wide || !row->inner)
		return;
	ep_row_text(line, EP_INK_PLAIN, "  ");
	ep_row_function(line, row->inner->name, row->outer ? 12 : 0);
	if (row->outer) {
		ep_row_text(line, EP_INK_DIM, " < ");
		ep_row_function(line, row->outer->name, 0);
	}
}

static void head(const struct ep_view *view, struct ep_row *line)
{
	(void)view;
	ep_row_number(line, EP_INK_BOLD, 8, "tid");
	ep_row_number(line, EP_INK_BOLD, 5, "");
	ep_row_number(line, EP_INK_BOLD, 10, "last");
	if (ep_screen_columns() >= 60)
		ep_row_number(line, EP_INK_BOLD, 5, "open");
	ep_row_text(line, EP_INK_BOLD,
		    ep_screen_columns() >= 60 ? "name, innermost call < its caller" : "name");
}

/* Names and ids, which are there: that what 10,000 threads are in need not be known. */
static const char *text(struct ep_view *view, size_t at)
{
	struct row *row = &threads_of(view)->rows[at];

	snprintf(row->text, sizeof(row->text), "%" PRIu32 " %s %s", row->thread->tid,
		 row->thread->name, row->inner ? row->inner->name : "");
	return row->text;
}

static void title(const struct ep_view *view, struct ep_row *line)
{
	const struct threads *threads = threads_of(view);

	ep_row_format(line, EP_INK_BAR, "%zu, by %s%s", threads->count,
		      order_words[threads->order.by], threads->order.reverse ? ", reversed" : "");
}

static bool key(struct ep_view *view, int pressed)
{
	struct threads *threads = threads_of(view);

	if (pressed == EP_KEY_ENTER) {
		if (threads->count)
			ep_tui_show_of(view->tui, EP_TUI_CALLS, threads->rows[view->cursor].thread);
		return true;
	}
	if (!ep_view_order_key(&threads->order, ORDERS, pressed))
		return false;
	sort(threads);
	ep_view_go(view, 0);
	return true;
}

static void close_threads(struct ep_view *view)
{
	free(threads_of(view)->rows);
	free(view->data);
}

void ep_tui_threads_open(struct ep_view *view)
{
	const struct ep_session *session = &view->tui->session;
	const struct ep_trace *trace = session->trace;
	struct threads *threads = ep_calloc(1, sizeof(*threads));
	struct ep_death death;

	ep_source_death(session->source, &death);
	threads->died = death.signal ? death.tid : 0;
	threads->rows = ep_calloc(trace->thread_count, sizeof(*threads->rows));
	for (size_t i = 0; i < trace->thread_count; i++)
		if (!ep_trace_is_helper(trace, trace->threads[i].tid))
			threads->rows[threads->count++].thread = &trace->threads[i];
	view->data = threads;
	view->message = "No thread was recorded.";
	sort(threads);
}

const struct ep_view_kind ep_tui_threads = {
	.name = "threads",
	.hints = "Enter its calls  s S sort  r reverse",
	.rows = count_rows,
	.head = head,
	.draw = draw,
	.text = text,
	.key = key,
	.title = title,
	.close = close_threads,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c: the last calls of one thread, newest last, as epitaph replay has them. The first few
 * hundred stand in the thread's tail, so that its millions are not read for them; more are read
 * when they are asked for.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/tui/reading.h"
#include "cli/tui/text_page.h"
#include "cli/tui/tui.h"
#include "coredump/util/alloc.h"
#include "decoder/calls/open_calls.h"
#include "decoder/export/replay.h"
#include "decoder/util/timetext.h"

#define AT_FIRST 500
#define MORE     10 /* times as many */
#define MOST     5000000

struct calls {
	struct ep_text_page page;
	const struct ep_trace_thread *thread; /* NULL: none has records */
	uint64_t wanted, shown;
};

static struct calls *calls_of(const struct ep_view *view)
{
	return view->data;
}

/* A sink; the context is a replay. */
static int print_event(void *context, const struct ep_event *event,
		       const struct ep_nest_thread *none)
{
	return event->kind == EP_EVENT_OPEN ? EP_OK : ep_replay_event(context, event, none);
}

/* The tail is of the end. */
static bool is_window(const struct ep_selection *selection)
{
	return selection->last_ns || selection->since.given || selection->until.given;
}

static void read_calls(struct ep_view *view, const struct ep_sink *sink)
{
	struct calls *calls = calls_of(view);
	const struct ep_session *session = &view->tui->session;
	struct ep_selection selection = ep_tui_selection(view->tui);
	struct ep_open_calls open;

	selection.only = calls->thread;
	selection.last_calls = calls->wanted;
	ep_open_calls_init(&open, session->trace, calls->thread, session->names);
	if (!is_window(&selection) && ep_tail_holds(&open.tail, calls->wanted))
		ep_stream_tail(session->trace, &selection, &open.tail, sink, &calls->shown);
	else
		ep_stream(session->trace, session->names, &selection, sink, &calls->shown);
	ep_open_calls_deinit(&open);
}

static void print_calls(struct ep_view *view, struct ep_text_page *page)
{
	static const struct ep_replay_style style = {"", "", "", "", false, true};
	struct calls *calls = calls_of(view);
	struct ep_outbuf *out = ep_malloc(sizeof(*out));
	struct ep_replay printer;
	const struct ep_sink sink = {.context = &printer, .event = print_event};

	ep_outbuf_init(out, ep_text_page_write(page));
	ep_replay_init(&printer, out, view->tui->session.trace, &style);
	if (calls->thread)
		read_calls(view, &sink);
	ep_replay_end(&printer);
	ep_outbuf_finish(out);
	ep_text_page_written(page);
	free(out);
}

/* False: it was left, and all is as it was. */
static bool read_more(struct ep_view *view)
{
	struct calls *calls = calls_of(view);
	uint64_t shown = calls->shown;
	struct ep_text_page page = {0};

	calls->wanted *= MORE;
	ep_reading_begin();
	print_calls(view, &page);
	if (ep_reading_end()) {
		ep_text_page_deinit(&page);
		calls->wanted /= MORE;
		calls->shown = shown;
		ep_tui_notice(view->tui, "left before all was read; + reads it anew");
		return false;
	}
	ep_text_page_deinit(&calls->page);
	calls->page = page;
	return true;
}

/* The row that was seen stays where it is. */
static void show_more(struct ep_view *view)
{
	struct calls *calls = calls_of(view);
	size_t before = calls->page.lines.count, top = view->top;

	if (calls->shown < calls->wanted || calls->wanted >= MOST) {
		ep_tui_notice(view->tui, calls->wanted >= MOST ? "epitaph replay prints them all"
							       : "these are all that are left");
		return;
	}
	if (!read_more(view))
		return;
	ep_view_go(view, calls->page.lines.count);
	view->top = top + calls->page.lines.count - before;
	view->cursor = view->top;
}

static bool key(struct ep_view *view, int pressed)
{
	if (pressed != '+')
		return false;
	show_more(view);
	return true;
}

static void title(const struct ep_view *view, struct ep_row *line)
{
	const struct calls *calls = calls_of(view);

	if (calls->thread)
		ep_row_format(line, EP_INK_BAR, "the last %" PRIu64 " of %" PRIu32 " %s",
			      calls->shown, calls->thread->tid, calls->thread->name);
}

static void close_calls(struct ep_view *view)
{
	ep_text_page_deinit(&calls_of(view)->page);
	free(view->data);
}

void ep_tui_calls_open(struct ep_view *view)
{
	struct calls *calls = ep_calloc(1, sizeof(*calls));

	view->data = calls;
	view->message = "No call was recorded.";
	calls->thread = ep_tui_thread(view->tui);
	calls->wanted = view->tui->asked.last_calls ? view->tui->asked.last_calls : AT_FIRST;
	print_calls(view, &calls->page);
	/* Newest last: that is seen first. */
	view->top = view->cursor = calls->page.lines.count;
}

const struct ep_view_kind ep_tui_calls = {
	.name = "calls",
	.hints = "+ more of them",
	.rows = ep_text_page_rows,
	.draw = ep_text_page_draw,
	.text = ep_text_page_text,
	.key = key,
	.title = title,
	.close = close_calls,
	.page = true,
};

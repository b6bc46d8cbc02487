/* SPDX-License-Identifier: BSD-2-Clause */
/* top.c: what a running process does, once a second: its functions, and where it waits. */
#include "cli/tui/top.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/tui/look.h"
#include "cli/tui/reading.h"
#include "cli/tui/stat_rows.h"
#include "cli/tui/tui.h"
#include "cli/tui/wait_rows.h"
#include "coredump/util/alloc.h"
#include "decoder/trace/switches.h"
#include "decoder/util/timetext.h"

#define PERIOD_MS 1000
#define SPARE     4 /* a look takes no more than this part of the time */

enum part { BOTH, FUNCTIONS, WAITS, PARTS };

struct top {
	struct ep_look look;
	struct ep_stat_columns columns;
	enum part part;
	int64_t next; /* CLOCK_MONOTONIC, ms: when to look again */
	bool stopped, gone;
	struct ep_err err; /* of the last look */
};

static struct top *top_of(const struct ep_view *view)
{
	return view->data;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- looking ---- */

static void look(struct top *top)
{
	int64_t begun = now_ms(), took;

	top->gone = ep_look_again(&top->look, &top->err) != EP_OK;
	took = now_ms() - begun;
	top->next = begun + (took * SPARE > PERIOD_MS ? took * SPARE : PERIOD_MS);
	if (top->gone)
		return;
	top->columns.waits = ep_stat_has_schedule(top->look.trace);
	ep_stats_sort(&top->look.stats, top->columns.key, top->columns.reverse);
}

int ep_tui_top_wait(const struct ep_view *view)
{
	const struct top *top;
	int64_t left;

	if (view->kind != &ep_tui_top)
		return -1;
	top = top_of(view);
	left = top->next - now_ms();
	return top->stopped || top->gone ? -1 : left > 0 ? (int)left : 0;
}

bool ep_tui_top_look(struct ep_view *view)
{
	if (view->kind != &ep_tui_top || ep_tui_top_wait(view) != 0)
		return true;
	ep_reading_begin();
	look(top_of(view));
	return !ep_reading_end();
}

/* ---- rows: functions, an empty line, a heading, waits ---- */

struct layout {
	size_t functions, between, waits;
};

static struct layout layout_of(const struct ep_view *view)
{
	const struct top *top = top_of(view);
	struct layout layout = {top->look.stats.count, 0, top->look.waits.count};
	size_t most = (size_t)view->height * 2 / 3;

	if (top->part == FUNCTIONS)
		layout.waits = 0;
	if (top->part == WAITS)
		layout.functions = 0;
	if (top->part != BOTH || !layout.waits)
		return layout;
	if (layout.functions > most)
		layout.functions = most ? most : 1;
	layout.between = 2;
	return layout;
}

static size_t count_rows(const struct ep_view *view)
{
	struct layout layout = layout_of(view);

	return layout.functions + layout.between + layout.waits;
}

static const struct ep_wait *wait_at(const struct ep_view *view, size_t at)
{
	struct layout layout = layout_of(view);
	size_t first = layout.functions + layout.between;

	return at >= first && at - first < layout.waits ? top_of(view)->look.waits.list[at - first]
							: NULL;
}

static const struct ep_stat *stat_at(const struct ep_view *view, size_t at)
{
	return at < layout_of(view).functions ? top_of(view)->look.stats.list[at] : NULL;
}

static void draw(struct ep_view *view, size_t at, struct ep_row *line)
{
	const struct top *top = top_of(view);
	const struct ep_stat *stat = stat_at(view, at);
	const struct ep_wait *wait = wait_at(view, at);

	if (stat)
		ep_stat_row_draw(&top->columns, stat, line);
	else if (wait)
		ep_wait_row_draw(top->look.trace, wait, line);
	else if (at + 1 == layout_of(view).functions + layout_of(view).between)
		ep_wait_row_head(line);
}

static void head(const struct ep_view *view, struct ep_row *line)
{
	const struct top *top = top_of(view);

	if (top->part == WAITS)
		ep_wait_row_head(line);
	else
		ep_stat_row_head(&top->columns, line);
}

static const char *text(struct ep_view *view, size_t at)
{
	const struct ep_stat *stat = stat_at(view, at);
	const struct ep_wait *wait = wait_at(view, at);

	return stat ? stat->function->name : wait ? ep_wait_row_name(wait) : NULL;
}

/* Functions whose hooks are out of the code: what they do is in none of the rows. */
static size_t count_off(const struct ep_trace_switches *switches)
{
	size_t count = 0;

	for (size_t i = 0; i < switches->count; i++)
		count += ep_switched_since(&switches->list[i]) != 0;
	return count;
}

static void title(const struct ep_view *view, struct ep_row *line)
{
	const struct top *top = top_of(view);
	const struct ep_look *look = &top->look;
	char ns[EP_TIMETEXT_SIZE];
	size_t off;

	if (top->gone) {
		ep_row_format(line, EP_INK_BAR, "%s", top->err.text);
		return;
	}
	ep_row_format(line, EP_INK_BAR, "%s: %" PRIu64 " calls in %s, %zu threads%s",
		      ep_source_name(look->session->source), look->stats.calls,
		      ep_timetext(ns, look->ns), look->threads, top->stopped ? ", stopped" : "");
	/* A ring that holds less than a second. */
	if (look->cut)
		ep_row_format(line, EP_INK_BAR, "; at least: %zu overwrote some of it", look->cut);
	off = look->trace->switches ? count_off(look->trace->switches) : 0;
	if (off)
		ep_row_format(line, EP_INK_BAR, "; %zu switched off", off);
	if (look->trace->arena.gate)
		ep_row_text(line, EP_INK_BAR, "; recording is paused");
}

/* ---- keys ---- */

static bool key(struct ep_view *view, int pressed)
{
	struct top *top = top_of(view);

	if (pressed == 'p') {
		top->stopped = !top->stopped;
		top->gone = false;
	} else if (pressed == 'w') {
		top->part = (top->part + 1) % PARTS;
	} else if (ep_stat_columns_key(&top->columns, pressed)) {
		ep_stats_sort(&top->look.stats, top->columns.key, top->columns.reverse);
	} else {
		return false;
	}
	return true;
}

static void close_top(struct ep_view *view)
{
	ep_look_deinit(&top_of(view)->look);
	free(view->data);
}

void ep_tui_top_open(struct ep_view *view)
{
	struct top *top = ep_calloc(1, sizeof(*top));

	view->data = top;
	view->message = "No call was recorded since the last look.";
	top->columns.open = true;
	ep_look_init(&top->look, &view->tui->session);
	look(top);
}

const struct ep_view_kind ep_tui_top = {
	.name = "top",
	.hints = "s S sort  r reverse  w waits, functions  p stop",
	.rows = count_rows,
	.head = head,
	.draw = draw,
	.text = text,
	.key = key,
	.title = title,
	.close = close_top,
};

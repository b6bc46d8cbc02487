/* SPDX-License-Identifier: BSD-2-Clause */
/* tui.c: the screens beside each other: which is seen, what keys mean in all of them. */
#include "cli/tui/tui.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tui/reading.h"
#include "cli/tui/top.h"
#include "coredump/util/alloc.h"
#include "decoder/kernel/end.h"

static const struct {
	const struct ep_view_kind *kind;
	void (*open)(struct ep_view *view);
	bool whole; /* whatever the scope */
} screens[EP_TUI_SCREENS] = {
	[EP_TUI_THREADS] = {&ep_tui_threads, ep_tui_threads_open, true},
	[EP_TUI_TREE] = {&ep_tui_tree, ep_tui_tree_open, false},
	[EP_TUI_FUNCTIONS] = {&ep_tui_functions, ep_tui_functions_open, false},
	[EP_TUI_WAITS] = {&ep_tui_waits, ep_tui_waits_open, false},
	[EP_TUI_CALLS] = {&ep_tui_calls, ep_tui_calls_open, false},
	[EP_TUI_REPORT] = {&ep_tui_report, ep_tui_report_open, true},
	[EP_TUI_TOP] = {&ep_tui_top, ep_tui_top_open, true},
};

/* ---- what the screens ask ---- */

void ep_tui_notice(struct ep_tui *tui, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(tui->notice, sizeof(tui->notice), format, list);
	va_end(list);
}

struct ep_selection ep_tui_selection(const struct ep_tui *tui)
{
	struct ep_selection selection = tui->asked;

	selection.only = tui->scope;
	selection.last_calls = 0;
	return selection;
}

const struct ep_trace_thread *ep_tui_thread(const struct ep_tui *tui)
{
	const struct ep_trace *trace = tui->session.trace;
	const struct ep_trace_thread *latest = NULL;
	struct ep_death death;

	if (tui->scope)
		return tui->scope;
	ep_source_death(tui->session.source, &death);
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];

		if (!thread->block_count)
			continue;
		if (death.signal && death.tid && thread->tid == death.tid)
			return thread;
		if (!latest || thread->last_tsc > latest->last_tsc)
			latest = thread;
	}
	return latest;
}

/* ---- drawing ---- */

static struct ep_view *present(struct ep_tui *tui)
{
	bool scoped = tui->scope && !screens[tui->screen].whole;

	if (tui->help.kind)
		return &tui->help;
	return &tui->views[tui->screen][scoped];
}

static bool is_there(const struct ep_tui *tui, int screen)
{
	return screen != EP_TUI_TOP || tui->live;
}

/* "1 threads 2 tree …" where there is room, else only the one that is seen. */
static void draw_tabs(struct ep_tui *tui, struct ep_row *line)
{
	for (int i = 0; i < EP_TUI_SCREENS; i++) {
		if (!is_there(tui, i) || (ep_screen_columns() < 100 && i != (int)tui->screen))
			continue;
		ep_row_format(line, i == (int)tui->screen ? EP_INK_BOLD : EP_INK_BAR, "%d %s",
			      i + 1, screens[i].kind->name);
		ep_row_text(line, EP_INK_BAR, "  ");
	}
}

static bool has_window(const struct ep_tui *tui)
{
	return tui->asked.last_ns || tui->asked.since.given || tui->asked.until.given;
}

/* The report says it itself. */
static bool counts_from_end(const struct ep_tui *tui)
{
	return tui->screen != EP_TUI_REPORT && tui->screen != EP_TUI_TOP;
}

static void draw_bar(struct ep_tui *tui, struct ep_view *view)
{
	struct ep_row line = ep_row_at(0, false);
	char later[EP_END_LATER_SIZE];

	if (view == &tui->help)
		ep_row_text(&line, EP_INK_BAR, "keys  ");
	else
		draw_tabs(tui, &line);
	if (view->kind->title)
		view->kind->title(view, &line);
	if (tui->scope && view != &tui->help && !screens[tui->screen].whole &&
	    tui->screen != EP_TUI_CALLS)
		ep_row_format(&line, EP_INK_BAR, "  of %" PRIu32 " %s", tui->scope->tid,
			      tui->scope->name);
	if (has_window(tui) && view != &tui->help && !screens[tui->screen].whole)
		ep_row_text(&line, EP_INK_BAR, "  of the time that was asked for");
	if (counts_from_end(tui) && view != &tui->help &&
	    ep_end_later_text(&tui->session.trace->end, later))
		ep_row_format(&line, EP_INK_BAR, "  to %s", later);
	ep_row_finish(&line, EP_INK_BAR);
}

/* "4/120": the cursor's row, of a page the last that is seen. */
static int draw_place(struct ep_view *view)
{
	struct ep_row line = ep_row_at(ep_screen_rows() - 1, false);
	size_t count = view->kind->rows(view), at = view->cursor + 1;
	char text[48];

	if (view->kind->page)
		at = view->top + (size_t)view->height;
	snprintf(text, sizeof(text), " %zu/%zu", at < count ? at : count, count);
	line.x = line.end - ep_screen_width(text);
	if (line.x < 0)
		return line.end;
	ep_row_text(&line, EP_INK_DIM, text);
	return line.end - ep_screen_width(text);
}

/* Whole, on as many lines as that takes: to be taken from there. */
static void draw_copied(const char *name)
{
	int columns = ep_screen_columns(), rows = ep_screen_rows();
	int lines = (ep_screen_width(name) + columns - 1) / columns;

	if (lines > rows)
		lines = rows;
	for (int i = 0; i < lines; i++) {
		struct ep_row line = ep_row_at(rows - lines + i, false);

		line.skip = i * columns;
		ep_row_text(&line, EP_INK_PLAIN, name);
		line.end = columns;
		ep_row_blank(&line);
	}
}

static void draw_foot(struct ep_tui *tui, struct ep_view *view)
{
	struct ep_row line = ep_row_at(ep_screen_rows() - 1, false);

	if (tui->copied) {
		draw_copied(tui->copied);
		return;
	}
	line.end = draw_place(view);
	if (tui->typing) {
		ep_row_format(&line, EP_INK_BOLD, "%c%s", tui->typing == tui->row ? ':' : '/',
			      tui->typing);
		ep_row_text(&line, EP_INK_BAR, " ");
	} else if (tui->notice[0]) {
		ep_row_text(&line, EP_INK_WARN, tui->notice);
	} else {
		ep_row_text(&line, EP_INK_DIM, view->kind->hints);
		ep_row_text(&line, EP_INK_DIM, "  / search  h keys  q quit");
	}
}

static void draw(struct ep_tui *tui)
{
	struct ep_view *view = present(tui);
	int rows = ep_screen_rows();

	ep_screen_clear();
	draw_bar(tui, view);
	if (rows > 2)
		ep_view_draw(view, 1, rows - 2);
	if (rows > 1)
		draw_foot(tui, view);
	ep_screen_show();
}

/* ---- going from one to another ---- */

static struct ep_view *view_of(struct ep_tui *tui, enum ep_tui_screen screen)
{
	return &tui->views[screen][tui->scope && !screens[screen].whole];
}

/* False: it was left. */
static bool open_view(struct ep_tui *tui, struct ep_view *view, enum ep_tui_screen screen)
{
	*view = (struct ep_view){.kind = screens[screen].kind, .tui = tui, .height = 1};
	view->height = ep_screen_rows() > 3 ? ep_screen_rows() - 3 : 1;
	ep_reading_print("reading");
	ep_reading_begin();
	screens[screen].open(view);
	if (!ep_reading_end())
		return true;
	ep_view_close(view);
	ep_tui_notice(tui, "left before all was read; %d reads it anew", (int)screen + 1);
	return false;
}

struct ep_view *ep_tui_show_of(struct ep_tui *tui, enum ep_tui_screen screen,
			       const struct ep_trace_thread *scope)
{
	const struct ep_trace_thread *scope_before = tui->scope;
	enum ep_tui_screen before = tui->screen;
	struct ep_view *view;

	tui->screen = screen;
	tui->scope = scope;
	view = view_of(tui, screen);
	if (view == &tui->views[screen][1] && view->kind && tui->scoped[screen] != scope)
		ep_view_close(view);
	if (!view->kind && !open_view(tui, view, screen)) {
		tui->screen = before;
		tui->scope = scope_before;
		return NULL;
	}
	if (view == &tui->views[screen][1])
		tui->scoped[screen] = scope;
	return view;
}

struct ep_view *ep_tui_show(struct ep_tui *tui, enum ep_tui_screen screen)
{
	return ep_tui_show_of(tui, screen, tui->scope);
}

static void show_next(struct ep_tui *tui, int step)
{
	int screen = (int)tui->screen;

	do
		screen = (screen + step + EP_TUI_SCREENS) % EP_TUI_SCREENS;
	while (!is_there(tui, screen));
	ep_tui_show(tui, (enum ep_tui_screen)screen);
}

/* ---- keys ---- */

static void search(struct ep_tui *tui, int step, bool from_here)
{
	enum ep_view_search found;

	if (!tui->search[0]) {
		ep_tui_notice(tui, "nothing was searched for yet: / and words");
		return;
	}
	found = ep_view_search(present(tui), tui->search, step, from_here);
	if (found == EP_VIEW_NOWHERE)
		ep_tui_notice(tui, "not found: %s", tui->search);
	else if (found == EP_VIEW_ROUND)
		ep_tui_notice(tui, "%s; went on at the other end: %s",
			      step > 0 ? "end" : "beginning", tui->search);
}

/* "120", from 1 on, or "50%". */
static void go_to_row(struct ep_tui *tui)
{
	struct ep_view *view = present(tui);
	unsigned long long number;
	size_t count = view->kind->rows(view);
	char *end;

	number = strtoull(tui->row, &end, 10);
	if (end == tui->row || tui->row[0] == '-' || (*end && strcmp(end, "%") != 0)) {
		ep_tui_notice(tui, ":%s is no row: a number, or 50%%", tui->row);
		return;
	}
	if (*end)
		number = number < 100 ? (unsigned long long)((double)count * (double)number / 100)
				      : count;
	ep_view_go(view, number ? (size_t)number - 1 : 0);
	if (view->kind->page)
		view->top = view->cursor;
}

static void typed(struct ep_tui *tui)
{
	if (tui->typing == tui->row)
		go_to_row(tui);
	else
		search(tui, 1, true);
}

/* Keys while words, or a number, are typed. */
static void type_key(struct ep_tui *tui, int key)
{
	size_t length = strlen(tui->typing);
	size_t room = tui->typing == tui->row ? sizeof(tui->row) : sizeof(tui->search);

	if (key == EP_KEY_ENTER || key == EP_KEY_ESCAPE) {
		if (key == EP_KEY_ENTER)
			typed(tui);
		tui->typing = NULL;
	} else if (key == EP_KEY_BACKSPACE && length == 0) {
		tui->typing = NULL;
	} else if (key == EP_KEY_BACKSPACE) {
		do
			tui->typing[--length] = '\0';
		while (length && ((unsigned char)tui->typing[length - 1] & 0xc0) == 0x80);
	} else if (key >= ' ' && key < 256 && length + 1 < room) {
		tui->typing[length] = (char)key;
		tui->typing[length + 1] = '\0';
	}
}

static void go_back(struct ep_tui *tui)
{
	if (tui->help.kind)
		ep_view_close(&tui->help);
	else if (tui->screen == tui->first)
		tui->quit = true;
	else
		ep_tui_show(tui, tui->first);
}

static void toggle_scope(struct ep_tui *tui)
{
	if (!tui->scope && !tui->chosen) {
		ep_tui_notice(tui, "no thread was chosen yet: Enter on one");
		return;
	}
	if (tui->scope)
		tui->chosen = tui->scope;
	ep_tui_show_of(tui, tui->screen, tui->scope ? NULL : tui->chosen);
}

static void open_help(struct ep_tui *tui)
{
	if (tui->help.kind)
		return;
	tui->help = (struct ep_view){.kind = &ep_tui_help, .tui = tui, .height = 1};
	ep_tui_help_open(&tui->help);
}

static bool search_key(struct ep_tui *tui, int key)
{
	if (key == '/' || key == EP_KEY_F3) {
		tui->search[0] = '\0';
		tui->typing = tui->search;
	} else if (key == ':') {
		tui->row[0] = '\0';
		tui->typing = tui->row;
	} else if (key == 'n' || key == '>') {
		search(tui, 1, false);
	} else if (key == 'N' || key == '<') {
		search(tui, -1, false);
	} else {
		return false;
	}
	return true;
}

static void copy(struct ep_tui *tui)
{
	struct ep_view *view = present(tui);
	const char *text = NULL;

	if (view->kind->text && view->kind->rows(view))
		text = view->kind->text(view, view->cursor);
	if (text)
		tui->copied = ep_strdup(text);
}

static void click(struct ep_tui *tui, bool twice)
{
	struct ep_view *view = present(tui);

	if (ep_view_click(view, ep_screen_clicked()) && twice && view->kind->key)
		view->kind->key(view, EP_KEY_ENTER);
}

static void toggle_mouse(struct ep_tui *tui)
{
	ep_screen_mouse(!ep_screen_has_mouse());
	ep_tui_notice(tui, ep_screen_has_mouse()
				   ? "the mouse moves the cursor; with Shift it selects text"
				   : "the mouse selects text");
}

static bool tool_key(struct ep_tui *tui, int key)
{
	if (key == 'y')
		copy(tui);
	else if (key == 'M')
		toggle_mouse(tui);
	else if (key == EP_KEY_CLICK || key == EP_KEY_DOUBLE_CLICK)
		click(tui, key == EP_KEY_DOUBLE_CLICK);
	else if (key == ('L' & 31) || key == ('R' & 31))
		ep_screen_redraw();
	else if (key == 'F')
		ep_screen_full_names(!ep_screen_has_full_names());
	else
		return false;
	return true;
}

static bool screen_key(struct ep_tui *tui, int key)
{
	if (tui->help.kind)
		return false;
	if (key == 'R')
		key = '1' + EP_TUI_FUNCTIONS;
	if (key == 'I')
		key = '1' + EP_TUI_REPORT;
	if (key >= '1' && key < '1' + EP_TUI_SCREENS && is_there(tui, key - '1'))
		ep_tui_show(tui, (enum ep_tui_screen)(key - '1'));
	else if (key == EP_KEY_TAB || key == EP_KEY_BACKTAB)
		show_next(tui, key == EP_KEY_TAB ? 1 : -1);
	else if (key == 'a')
		toggle_scope(tui);
	else
		return false;
	return true;
}

static void press(struct ep_tui *tui, int key)
{
	struct ep_view *view = present(tui);

	if (key == EP_KEY_GONE)
		tui->quit = true;
	if (key == EP_KEY_NONE || key == EP_KEY_RESIZE || key == EP_KEY_GONE)
		return;
	tui->notice[0] = '\0';
	free(tui->copied);
	tui->copied = NULL;
	if (tui->typing) {
		type_key(tui, key);
		return;
	}
	if (view->kind->key && view->kind->key(view, key))
		return;
	if (key == 'q' || key == EP_KEY_ESCAPE || key == EP_KEY_BACKSPACE)
		go_back(tui);
	else if (key == 'Q' || key == EP_KEY_F10)
		tui->quit = true;
	else if (key == 'h' || key == '?' || key == EP_KEY_F1)
		open_help(tui);
	else if (!search_key(tui, key) && !tool_key(tui, key) && !screen_key(tui, key))
		ep_view_move(view, key);
}

/* Asked for on the command line: the thread is in scope. */
static enum ep_tui_screen screen_at_first(const struct ep_tui *tui)
{
	if (tui->scope)
		return EP_TUI_CALLS;
	return tui->live ? EP_TUI_TOP : EP_TUI_THREADS;
}

void ep_tui_run(struct ep_tui *tui)
{
	tui->first = screen_at_first(tui);
	ep_reading_watch(true);
	tui->quit = !ep_tui_show(tui, tui->first);
	while (!tui->quit) {
		draw(tui);
		press(tui, ep_screen_key(ep_tui_top_wait(present(tui))));
		tui->quit |= !tui->quit && !ep_tui_top_look(present(tui));
	}
	ep_reading_watch(false);
	free(tui->copied);
	ep_view_close(&tui->help);
	for (int i = 0; i < EP_TUI_SCREENS; i++) {
		ep_view_close(&tui->views[i][0]);
		ep_view_close(&tui->views[i][1]);
	}
}

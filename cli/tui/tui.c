/* SPDX-License-Identifier: BSD-2-Clause */
/* tui.c: the screens beside each other: which is seen, what keys mean in all of them. */
#include "cli/tui/tui.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/progress.h"
#include "cli/tui/top.h"
#include "coredump/util/progress.h"

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
	return (struct ep_selection){.only = tui->scope};
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

static void draw_bar(struct ep_tui *tui, struct ep_view *view)
{
	struct ep_row line = ep_row_at(0, false);

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
	ep_row_finish(&line, EP_INK_BAR);
}

static void draw_foot(struct ep_tui *tui, struct ep_view *view)
{
	struct ep_row line = ep_row_at(ep_screen_rows() - 1, false);

	if (tui->typing) {
		ep_row_format(&line, EP_INK_BOLD, "/%s", tui->search);
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

static void draw_reading(const char *text)
{
	struct ep_row row = ep_row_at(ep_screen_rows() - 1, false);

	ep_row_text(&row, EP_INK_BOLD, text);
	ep_row_blank(&row);
	ep_screen_show();
}

/* What comes from coredump/util/progress.h. */
static void show_progress(const char *what, uint64_t done, uint64_t total)
{
	static struct ep_progress_clock clock;
	char text[160];

	if (!what)
		clock.what = NULL;
	else if (ep_progress_text(&clock, ep_progress_now(), what, done, total, text, sizeof(text)))
		draw_reading(text);
}

struct ep_view *ep_tui_show(struct ep_tui *tui, enum ep_tui_screen screen)
{
	bool scoped = tui->scope && !screens[screen].whole;
	struct ep_view *view = &tui->views[screen][scoped];

	tui->screen = screen;
	if (scoped && view->kind && tui->scoped[screen] != tui->scope)
		ep_view_close(view);
	if (view->kind)
		return view;
	draw_reading("reading");
	*view = (struct ep_view){.kind = screens[screen].kind, .tui = tui, .height = 1};
	view->height = ep_screen_rows() > 3 ? ep_screen_rows() - 3 : 1;
	screens[screen].open(view);
	if (scoped)
		tui->scoped[screen] = tui->scope;
	return view;
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
	if (!tui->search[0])
		ep_tui_notice(tui, "nothing was searched for yet: / and words");
	else if (!ep_view_search(present(tui), tui->search, step, from_here))
		ep_tui_notice(tui, "not found: %s", tui->search);
}

/* Keys while the words to search for are typed. */
static void type_key(struct ep_tui *tui, int key)
{
	size_t length = strlen(tui->search);

	if (key == EP_KEY_ENTER || key == EP_KEY_ESCAPE) {
		tui->typing = false;
		if (key == EP_KEY_ENTER)
			search(tui, 1, true);
	} else if (key == EP_KEY_BACKSPACE && length == 0) {
		tui->typing = false;
	} else if (key == EP_KEY_BACKSPACE) {
		do
			tui->search[--length] = '\0';
		while (length && ((unsigned char)tui->search[length - 1] & 0xc0) == 0x80);
	} else if (key >= ' ' && key < 256 && length + 1 < sizeof(tui->search)) {
		tui->search[length] = (char)key;
		tui->search[length + 1] = '\0';
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
	tui->scope = tui->scope ? NULL : tui->chosen;
	ep_tui_show(tui, tui->screen);
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
	if (key == '/') {
		tui->search[0] = '\0';
		tui->typing = true;
	} else if (key == 'n' || key == '>') {
		search(tui, 1, false);
	} else if (key == 'N' || key == '<') {
		search(tui, -1, false);
	} else {
		return false;
	}
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

	if (key == EP_KEY_NONE || key == EP_KEY_RESIZE)
		return;
	tui->notice[0] = '\0';
	if (tui->typing) {
		type_key(tui, key);
		return;
	}
	if (view->kind->key && view->kind->key(view, key))
		return;
	if (key == 'q' || key == EP_KEY_ESCAPE || key == EP_KEY_BACKSPACE)
		go_back(tui);
	else if (key == 'Q')
		tui->quit = true;
	else if (key == 'F')
		ep_screen_full_names(!ep_screen_has_full_names());
	else if (key == 'h' || key == '?' || key == EP_KEY_F1)
		open_help(tui);
	else if (!search_key(tui, key) && !screen_key(tui, key))
		ep_view_move(view, key);
}

void ep_tui_run(struct ep_tui *tui)
{
	tui->first = tui->live ? EP_TUI_TOP : EP_TUI_THREADS;
	ep_progress_watch(show_progress);
	ep_tui_show(tui, tui->first);
	while (!tui->quit) {
		draw(tui);
		press(tui, ep_screen_key(ep_tui_top_wait(present(tui))));
		ep_tui_top_look(present(tui));
	}
	ep_progress_watch(NULL);
	ep_view_close(&tui->help);
	for (int i = 0; i < EP_TUI_SCREENS; i++) {
		ep_view_close(&tui->views[i][0]);
		ep_view_close(&tui->views[i][1]);
	}
}

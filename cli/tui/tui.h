/* SPDX-License-Identifier: BSD-2-Clause */
/* tui.h: epitaph tui: what its screens share. Each screen is a file of its name. */
#ifndef EPITAPH_TUI_H
#define EPITAPH_TUI_H

#include "cli/common/session.h"
#include "cli/tui/view.h"
#include "decoder/stream/selection.h"

/* In the order of the keys 1, 2 … */
enum ep_tui_screen {
	EP_TUI_THREADS,
	EP_TUI_TREE,
	EP_TUI_FUNCTIONS,
	EP_TUI_WAITS,
	EP_TUI_CALLS,
	EP_TUI_REPORT,
	EP_TUI_TOP, /* of a running process only */
	EP_TUI_SCREENS,
};

#define EP_TUI_SEARCH_MAX 128

struct ep_tui {
	const struct ep_arguments *arguments;
	struct ep_session session;
	bool live;
	/* Of one thread, or NULL: of all. */
	const struct ep_trace_thread *scope;
	enum ep_tui_screen screen;
	/* As they were left, so that nothing is read twice: of all threads, and of the one that was
	 * in `scope` last. */
	struct ep_view views[EP_TUI_SCREENS][2];
	const struct ep_trace_thread *scoped[EP_TUI_SCREENS];
	struct ep_view help;                  /* over all others, while it is open */
	enum ep_tui_screen first;             /* from which `q` ends */
	const struct ep_trace_thread *chosen; /* last; NULL */
	char search[EP_TUI_SEARCH_MAX];       /* the last; "" */
	char row[24];                         /* where `:` goes to, as it is typed */
	char *typing;                         /* one of these; NULL */
	char notice[160];                     /* in the last line, until the next key; "" */
	char *copied; /* over the last lines, until then: a name, whole; NULL */
	/* What the command line asked for: of which calls tables, tree and calls are. Threads are
	 * in `scope`. */
	struct ep_selection asked;
	bool quit;
};

extern const struct ep_view_kind ep_tui_threads, ep_tui_tree, ep_tui_functions, ep_tui_waits,
	ep_tui_calls, ep_tui_report, ep_tui_top, ep_tui_help;

/* Each fills `view`, whose kind and tui are set. */
void ep_tui_threads_open(struct ep_view *view);
void ep_tui_tree_open(struct ep_view *view);
void ep_tui_functions_open(struct ep_view *view);
void ep_tui_waits_open(struct ep_view *view);
void ep_tui_calls_open(struct ep_view *view);
void ep_tui_report_open(struct ep_view *view);
void ep_tui_top_open(struct ep_view *view);
void ep_tui_help_open(struct ep_view *view);

/* The screen `screen`, opened where it is not. NULL: the user left it while it was read, and sees
 * what he saw before. */
struct ep_view *ep_tui_show(struct ep_tui *tui, enum ep_tui_screen screen);
/* The same of one thread, NULL of all: the scope is another then. */
struct ep_view *ep_tui_show_of(struct ep_tui *tui, enum ep_tui_screen screen,
			       const struct ep_trace_thread *scope);

/* Words in the last line, until the next key. */
void ep_tui_notice(struct ep_tui *tui, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What the scope selects. */
struct ep_selection ep_tui_selection(const struct ep_tui *tui);

/* The tree's cursor goes to where most time was spent in the function. False: it is not in it. */
bool ep_tui_tree_find(struct ep_view *tree, const struct ep_function *function);

/* The thread that an event of interest is about: the scope, else the one that died, else the one
 * whose last record is the latest. NULL: none has records. */
const struct ep_trace_thread *ep_tui_thread(const struct ep_tui *tui);

/* Everything until the user quits: the screen was begun, and is ended by the caller. */
void ep_tui_run(struct ep_tui *tui);

#endif

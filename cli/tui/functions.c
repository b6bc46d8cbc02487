/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c: functions, as epitaph stats has them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/tui/stat_rows.h"
#include "cli/tui/tui.h"
#include "coredump/util/alloc.h"
#include "decoder/stats/stats.h"

struct functions {
	struct ep_stats stats;
	struct ep_stat_columns columns;
};

static struct functions *functions_of(const struct ep_view *view)
{
	return view->data;
}

static size_t count_rows(const struct ep_view *view)
{
	return functions_of(view)->stats.count;
}

static void draw(struct ep_view *view, size_t at, struct ep_row *line)
{
	struct functions *functions = functions_of(view);

	ep_stat_row_draw(&functions->columns, functions->stats.list[at], line);
}

static void head(const struct ep_view *view, struct ep_row *line)
{
	ep_stat_row_head(&functions_of(view)->columns, line);
}

static const char *text(struct ep_view *view, size_t at)
{
	return functions_of(view)->stats.list[at]->function->name;
}

static void title(const struct ep_view *view, struct ep_row *line)
{
	const struct functions *functions = functions_of(view);

	ep_row_format(line, EP_INK_BAR, "%zu of %" PRIu64 " calls", functions->stats.count,
		      functions->stats.calls);
	if (functions->stats.gaps)
		ep_row_format(line, EP_INK_BAR, ", history is missing in %" PRIu64 " places",
			      functions->stats.gaps);
}

static void show_in_tree(struct ep_view *view)
{
	struct functions *functions = functions_of(view);
	const struct ep_function *function;
	struct ep_view *tree;

	if (!functions->stats.count)
		return;
	function = functions->stats.list[view->cursor]->function;
	tree = ep_tui_show(view->tui, EP_TUI_TREE);
	if (tree && !ep_tui_tree_find(tree, function))
		ep_tui_notice(view->tui, "%s is not in the tree", function->name);
}

static bool key(struct ep_view *view, int pressed)
{
	struct functions *functions = functions_of(view);

	if (pressed == EP_KEY_ENTER) {
		show_in_tree(view);
		return true;
	}
	if (!ep_stat_columns_key(&functions->columns, pressed))
		return false;
	ep_stats_sort(&functions->stats, functions->columns.key, functions->columns.reverse);
	ep_view_go(view, 0);
	return true;
}

static void close_functions(struct ep_view *view)
{
	ep_stats_deinit(&functions_of(view)->stats);
	free(view->data);
}

void ep_tui_functions_open(struct ep_view *view)
{
	struct functions *functions = ep_calloc(1, sizeof(*functions));
	const struct ep_session *session = &view->tui->session;
	struct ep_selection selection = ep_tui_selection(view->tui);

	ep_stats_create(&functions->stats, session->trace, session->names, &selection, false);
	functions->columns.open = view->tui->live;
	functions->columns.waits = ep_stat_has_schedule(session->trace);
	ep_stats_sort(&functions->stats, functions->columns.key, false);
	view->data = functions;
	view->message = "No call was recorded.";
}

const struct ep_view_kind ep_tui_functions = {
	.name = "functions",
	.hints = "Enter in the tree  s S sort  r reverse",
	.rows = count_rows,
	.head = head,
	.draw = draw,
	.text = text,
	.key = key,
	.title = title,
	.close = close_functions,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* tree.c: who called whom, and how long that took: a tree that folds and unfolds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tui/tui.h"
#include "coredump/util/alloc.h"
#include "decoder/stats/calltree.h"
#include "decoder/util/timetext.h"

#define UNFOLDED_AT_FIRST 3      /* levels */
#define ROWS_MAX          500000 /* that `E` unfolds to */
#define COLUMN            11
#define OPEN              18 /* cells of "1 did not return" */
#define INDENT_MAX        40 /* cells */

struct tree {
	struct ep_calltree calls;
	bool *unfolded;             /* by node */
	EP_ARRAY(uint32_t) rows;    /* nodes, as they stand */
	struct ep_view_order order; /* enum ep_calltree_key */
};

static const char *const key_words[] = {"total", "self", "calls", "name"};

static struct tree *tree_of(const struct ep_view *view)
{
	return view->data;
}

static struct ep_calltree_node *node_of(struct tree *tree, uint32_t node)
{
	return &tree->calls.nodes.list[node];
}

static size_t count_rows(const struct ep_view *view)
{
	return tree_of(view)->rows.count;
}

/* ---- rows ---- */

/* What comes behind `node` when all its children were there: the next of its own, or of whom it is
 * below. */
static uint32_t behind(struct tree *tree, uint32_t node)
{
	while (node != EP_CALLTREE_NONE && node_of(tree, node)->next == EP_CALLTREE_NONE)
		node = node_of(tree, node)->parent;
	return node == EP_CALLTREE_NONE ? node : node_of(tree, node)->next;
}

static void list_rows(struct tree *tree)
{
	uint32_t node = node_of(tree, 0)->child;

	tree->rows.count = 0;
	while (node != EP_CALLTREE_NONE && tree->rows.count < ROWS_MAX) {
		bool inside =
			tree->unfolded[node] && node_of(tree, node)->child != EP_CALLTREE_NONE;

		ep_array_push(&tree->rows, node);
		node = inside ? node_of(tree, node)->child : behind(tree, node);
	}
}

/* Lists anew; the cursor stays on `node`. */
static void relist(struct ep_view *view, uint32_t node)
{
	struct tree *tree = tree_of(view);

	list_rows(tree);
	for (size_t i = 0; i < tree->rows.count; i++)
		if (tree->rows.list[i] == node) {
			ep_view_go(view, i);
			return;
		}
	ep_view_go(view, 0);
}

/* ---- folding ---- */

static bool is_below(struct tree *tree, uint32_t node, uint32_t above)
{
	while (node != EP_CALLTREE_NONE && node != above)
		node = node_of(tree, node)->parent;
	return node == above;
}

/* The node and all that is below it: which comes in one piece behind it, in rows as in the tree. */
static void fold_below(struct tree *tree, uint32_t above, bool unfold)
{
	uint32_t node = above;

	do {
		uint32_t inner = node_of(tree, node)->child;

		tree->unfolded[node] = unfold;
		node = inner != EP_CALLTREE_NONE ? inner : behind(tree, node);
	} while (node != EP_CALLTREE_NONE && is_below(tree, node, above));
}

static void unfold_way_to(struct tree *tree, uint32_t node)
{
	while ((node = node_of(tree, node)->parent) != EP_CALLTREE_NONE)
		tree->unfolded[node] = true;
}

bool ep_tui_tree_find(struct ep_view *view, const struct ep_function *function)
{
	struct tree *tree = tree_of(view);
	uint32_t best = 0;

	for (uint32_t i = 1; i < tree->calls.nodes.count; i++)
		if (node_of(tree, i)->function == function &&
		    (!best || node_of(tree, i)->total > node_of(tree, best)->total))
			best = i;
	if (!best)
		return false;
	unfold_way_to(tree, best);
	relist(view, best);
	return true;
}

/* ---- drawing ---- */

static void head(const struct ep_view *view, struct ep_row *line)
{
	bool narrow = ep_screen_columns() < 60;

	(void)view;
	ep_row_number(line, EP_INK_BOLD, COLUMN, "total");
	if (!narrow) {
		ep_row_number(line, EP_INK_BOLD, COLUMN, "self");
		ep_row_number(line, EP_INK_BOLD, COLUMN - 2, "calls");
	}
	ep_row_text(line, EP_INK_BOLD, "call");
}

static void draw_indent(struct tree *tree, uint32_t number, struct ep_row *line)
{
	const struct ep_calltree_node *node = node_of(tree, number);
	int most = (line->end - line->x) / 2, wanted = 2 * ((int)node->depth - 1);

	if (most > INDENT_MAX)
		most = INDENT_MAX;
	for (int i = 0; i < wanted && i < most; i++)
		ep_row_text(line, EP_INK_PLAIN, " ");
	/* Deeper than the screen shows: how deep it is. */
	if (wanted > most)
		ep_row_format(line, EP_INK_DIM, "(%u) ", (unsigned)node->depth);
	ep_row_text(line, EP_INK_DIM,
		    node->child == EP_CALLTREE_NONE ? "  "
		    : tree->unfolded[number]        ? "- "
						    : "+ ");
}

static void draw(struct ep_view *view, size_t at, struct ep_row *line)
{
	struct tree *tree = tree_of(view);
	uint32_t number = tree->rows.list[at];
	const struct ep_calltree_node *node = node_of(tree, number);
	char text[EP_TIMETEXT_SIZE];
	bool narrow = ep_screen_columns() < 60;

	ep_row_number(line, EP_INK_PLAIN, COLUMN, ep_timetext(text, node->total));
	if (!narrow) {
		ep_row_number(line, EP_INK_PLAIN, COLUMN, ep_timetext(text, node->self));
		snprintf(text, sizeof(text), "%" PRIu64, node->calls);
		ep_row_number(line, EP_INK_PLAIN, COLUMN - 2, node->calls ? text : "-");
	}
	draw_indent(tree, number, line);
	if (node->function)
		ep_row_function(line, node->function->name, node->open && !narrow ? OPEN : 0);
	else
		ep_row_text(line, EP_INK_WARN, ep_calltree_name(node));
	if (node->open)
		ep_row_format(line, EP_INK_DIM, "  %" PRIu64 "%s", node->open,
			      view->tui->live ? " open" : " did not return");
}

static const char *text(struct ep_view *view, size_t at)
{
	struct tree *tree = tree_of(view);

	return ep_calltree_name(node_of(tree, tree->rows.list[at]));
}

static void title(const struct ep_view *view, struct ep_row *line)
{
	struct tree *tree = tree_of(view);
	char time[EP_TIMETEXT_SIZE];

	ep_row_format(line, EP_INK_BAR, "%s, %zu stacks, by %s%s",
		      ep_timetext(time, node_of(tree, 0)->total), tree->calls.nodes.count - 1,
		      key_words[tree->order.by], tree->order.reverse ? ", reversed" : "");
}

/* ---- keys ---- */

static void go_to_longest(struct ep_view *view, uint32_t number)
{
	struct tree *tree = tree_of(view);
	uint32_t longest = number;

	for (uint32_t at = node_of(tree, number)->child; at != EP_CALLTREE_NONE;
	     at = node_of(tree, at)->next)
		if (longest == number || node_of(tree, at)->total > node_of(tree, longest)->total)
			longest = at;
	tree->unfolded[number] = true;
	relist(view, longest);
}

static void go_to_parent(struct ep_view *view, uint32_t number)
{
	uint32_t parent = node_of(tree_of(view), number)->parent;

	relist(view, parent ? parent : number);
}

static void go_to_sibling(struct ep_view *view, uint32_t number, bool forward)
{
	struct tree *tree = tree_of(view);
	uint32_t at = node_of(tree, node_of(tree, number)->parent)->child;

	if (forward)
		at = node_of(tree, number)->next;
	else if (at == number)
		at = EP_CALLTREE_NONE;
	while (!forward && at != EP_CALLTREE_NONE && node_of(tree, at)->next != number)
		at = node_of(tree, at)->next;
	if (at != EP_CALLTREE_NONE)
		relist(view, at);
}

static void unfold_children(struct tree *tree, uint32_t number)
{
	tree->unfolded[number] = true;
	for (uint32_t at = node_of(tree, number)->child; at != EP_CALLTREE_NONE;
	     at = node_of(tree, at)->next)
		tree->unfolded[at] = true;
}

/* False: it folds nothing. */
static bool fold_key(struct ep_view *view, uint32_t number, int pressed)
{
	struct tree *tree = tree_of(view);

	switch (pressed) {
	case EP_KEY_ENTER:
		tree->unfolded[number] = !tree->unfolded[number];
		break;
	case 'e':
		unfold_children(tree, number);
		break;
	case 'c':
		fold_below(tree, number, false);
		break;
	case 'E':
		fold_below(tree, 0, true);
		break;
	case 'C':
		fold_below(tree, 0, false);
		break;
	default:
		return false;
	}
	relist(view, number);
	return true;
}

static bool go_key(struct ep_view *view, uint32_t number, int pressed)
{
	struct tree *tree = tree_of(view);

	if (pressed == EP_KEY_LEFT && tree->unfolded[number] &&
	    node_of(tree, number)->child != EP_CALLTREE_NONE)
		return fold_key(view, number, EP_KEY_ENTER);
	if (pressed == EP_KEY_RIGHT && !tree->unfolded[number])
		return fold_key(view, number, EP_KEY_ENTER);
	if (pressed == 'u' || pressed == EP_KEY_LEFT)
		go_to_parent(view, number);
	else if (pressed == 'l' || pressed == EP_KEY_RIGHT)
		go_to_longest(view, number);
	else if (pressed == '(' || pressed == ')')
		go_to_sibling(view, number, pressed == ')');
	else
		return false;
	return true;
}

static bool sort_key(struct ep_view *view, uint32_t number, int pressed)
{
	struct tree *tree = tree_of(view);

	if (!ep_view_order_key(&tree->order, EP_CALLTREE_KEYS, pressed))
		return false;
	ep_calltree_sort(&tree->calls, tree->order.by, tree->order.reverse);
	relist(view, number);
	return true;
}

static bool key(struct ep_view *view, int pressed)
{
	struct tree *tree = tree_of(view);
	uint32_t number;

	if (!tree->rows.count)
		return false;
	number = tree->rows.list[view->cursor];
	return fold_key(view, number, pressed) || go_key(view, number, pressed) ||
	       sort_key(view, number, pressed);
}

static void close_tree(struct ep_view *view)
{
	struct tree *tree = tree_of(view);

	ep_calltree_deinit(&tree->calls);
	ep_array_deinit(&tree->rows);
	free(tree->unfolded);
	free(tree);
}

void ep_tui_tree_open(struct ep_view *view)
{
	const struct ep_session *session = &view->tui->session;
	struct tree *tree = ep_calloc(1, sizeof(*tree));
	struct ep_selection selection = ep_tui_selection(view->tui);
	uint64_t shown;

	ep_calltree_create(&tree->calls, session->trace, session->names, &selection,
			   EP_CALLTREE_BY_CALLS, &shown);
	tree->unfolded = ep_calloc(tree->calls.nodes.count, sizeof(*tree->unfolded));
	for (size_t i = 0; i < tree->calls.nodes.count; i++)
		tree->unfolded[i] = tree->calls.nodes.list[i].depth < UNFOLDED_AT_FIRST;
	list_rows(tree);
	view->data = tree;
	view->message = "No call was recorded.";
}

const struct ep_view_kind ep_tui_tree = {
	.name = "tree",
	.hints = "Enter fold/unfold  e c E C more, less  u up  l longest  s sort",
	.rows = count_rows,
	.head = head,
	.draw = draw,
	.text = text,
	.key = key,
	.title = title,
	.close = close_tree,
};

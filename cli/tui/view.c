/* SPDX-License-Identifier: BSD-2-Clause */
/* view.c: where the cursor goes, and which rows are seen. */
#include "cli/tui/view.h"

#include <stdlib.h>
#include <string.h>

#include "decoder/names/short_name.h"

#define SIDEWAYS 8 /* cells, of a page */

static size_t rows_of(const struct ep_view *view)
{
	return view->kind->rows(view);
}

/* What is seen holds the cursor, and has no more empty lines at its end than it must. */
static void settle(struct ep_view *view)
{
	size_t count = rows_of(view), height = (size_t)view->height;
	size_t last_top = count > height ? count - height : 0;

	if (view->cursor >= count)
		view->cursor = count ? count - 1 : 0;
	if (!view->kind->page) {
		if (view->cursor < view->top)
			view->top = view->cursor;
		if (view->cursor >= view->top + height)
			view->top = view->cursor - height + 1;
	}
	if (view->top > last_top)
		view->top = last_top;
}

void ep_view_draw(struct ep_view *view, int y, int height)
{
	size_t count = rows_of(view);
	struct ep_row line;

	if (view->kind->head && height > 1) {
		line = ep_row_at(y++, false);
		view->kind->head(view, &line);
		ep_row_finish(&line, EP_INK_PLAIN);
		height--;
	}
	view->y = y;
	view->height = height > 0 ? height : 1;
	settle(view);
	for (size_t i = view->top; i < count && i < view->top + (size_t)view->height; i++) {
		bool marked = view->kind->page ? view->found : true;

		line = ep_row_at(y + (int)(i - view->top), marked && i == view->cursor);
		line.skip = view->left;
		view->kind->draw(view, i, &line);
		ep_row_finish(&line, EP_INK_PLAIN);
	}
	if (!count && view->message) {
		line = ep_row_at(y, false);
		ep_row_text(&line, EP_INK_DIM, view->message);
	}
}

/* ---- moving ---- */

static size_t clamp(size_t at, long step, size_t count)
{
	if (step < 0)
		return at > (size_t)-step ? at - (size_t)-step : 0;
	return at + (size_t)step < count ? at + (size_t)step : count ? count - 1 : 0;
}

static void move_by(struct ep_view *view, long step)
{
	size_t count = rows_of(view);

	view->found = false;
	if (!view->kind->page) {
		view->cursor = clamp(view->cursor, step, count);
	} else {
		view->top = clamp(view->top, step, count);
		view->cursor = view->top;
	}
	settle(view);
}

static bool move_sideways(struct ep_view *view, int key)
{
	if (!view->kind->page || (key != EP_KEY_LEFT && key != EP_KEY_RIGHT))
		return false;
	if (key == EP_KEY_RIGHT)
		view->left += SIDEWAYS;
	else if (view->left > 0)
		view->left -= SIDEWAYS;
	return true;
}

static void center(struct ep_view *view)
{
	size_t half = (size_t)view->height / 2;

	view->top = view->cursor > half ? view->cursor - half : 0;
	settle(view);
}

bool ep_view_move(struct ep_view *view, int key)
{
	long page = view->height > 1 ? view->height - 1 : 1, half = (view->height + 1) / 2;
	const long all = 1L << 40;
	const struct {
		int key;
		long step;
	} table[] = {
		{EP_KEY_UP, -1},
		{'k', -1},
		{'K' & 31, -1},
		{'Y' & 31, -1},
		{'P' & 31, -1},
		{EP_KEY_DOWN, 1},
		{'j', 1},
		{'E' & 31, 1},
		{'N' & 31, 1},
		{EP_KEY_ENTER, 1},
		{'b', -page},
		{EP_KEY_PAGE_UP, -page},
		{'B' & 31, -page},
		{' ', page},
		{EP_KEY_PAGE_DOWN, page},
		{'f', page},
		{'v' & 31, page},
		{'F' & 31, page},
		{'D' & 31, half},
		{'d', half},
		{'U' & 31, -half},
		{'u', -half},
		{'g', -all},
		{EP_KEY_HOME, -all},
		{'G', all},
		{EP_KEY_END, all},
		{EP_KEY_WHEEL_UP, -3},
		{EP_KEY_WHEEL_DOWN, 3},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].key == key) {
			move_by(view, table[i].step);
			return true;
		}
	if (key == 'z') {
		center(view);
		return true;
	}
	return move_sideways(view, key);
}

void ep_view_go(struct ep_view *view, size_t row)
{
	size_t count = rows_of(view);

	view->cursor = row < count ? row : count ? count - 1 : 0;
	if (view->kind->page &&
	    (view->cursor < view->top || view->cursor >= view->top + (size_t)view->height))
		view->top = view->cursor;
	settle(view);
}

/* ---- searching ---- */

static bool has_capital(const char *words)
{
	while (*words && !(*words >= 'A' && *words <= 'Z'))
		words++;
	return *words;
}

static bool has_words(const char *text, const char *words)
{
	return has_capital(words) ? strstr(text, words) : strcasestr(text, words);
}

/* A name is found by how it is shown, and by how it is. */
static bool fits(const char *text, const char *words)
{
	char *shorter;
	bool found;

	if (!text || has_words(text, words))
		return text;
	if (ep_screen_has_full_names() || !strstr(text, "std::"))
		return false;
	shorter = ep_short_name(text);
	found = has_words(shorter, words);
	free(shorter);
	return found;
}

enum ep_view_search ep_view_search(struct ep_view *view, const char *words, int step,
				   bool from_here)
{
	size_t count = rows_of(view), begin = view->cursor, row = begin;

	if (!count || !view->kind->text || !*words)
		return EP_VIEW_NOWHERE;
	for (size_t i = 0; i < count; i++) {
		if (i || !from_here)
			row = step > 0 ? (row + 1) % count : (row + count - 1) % count;
		if (!fits(view->kind->text(view, row), words))
			continue;
		view->found = true;
		ep_view_go(view, row);
		if (row == begin)
			return i ? EP_VIEW_ROUND : EP_VIEW_FOUND;
		return (row < begin) == (step > 0) ? EP_VIEW_ROUND : EP_VIEW_FOUND;
	}
	return EP_VIEW_NOWHERE;
}

bool ep_view_click(struct ep_view *view, int line)
{
	if (line < view->y || line >= view->y + view->height ||
	    view->top + (size_t)(line - view->y) >= rows_of(view))
		return false;
	if (!view->kind->page)
		ep_view_go(view, view->top + (size_t)(line - view->y));
	return true;
}

void ep_view_close(struct ep_view *view)
{
	if (view->kind && view->kind->close)
		view->kind->close(view);
	*view = (struct ep_view){0};
}

bool ep_view_order_key(struct ep_view_order *order, unsigned ways, int key)
{
	if (key == 's')
		order->by = (order->by + 1) % ways;
	else if (key == 'S')
		order->by = (order->by + ways - 1) % ways;
	else if (key == 'r')
		order->reverse = !order->reverse;
	else
		return false;
	return true;
}

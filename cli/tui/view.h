/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view.h: a list of rows with a cursor, as most of the screens are, or a page of text without one:
 * moving, searching, drawing. What the rows are is the kind's matter; only rows that are seen are
 * drawn, so that a list may be of any length.
 */
#ifndef EPITAPH_VIEW_H
#define EPITAPH_VIEW_H

#include "cli/tui/screen.h"

struct ep_view;

struct ep_view_kind {
	const char *name;  /* one word */
	const char *hints; /* its own keys, for the last line */
	size_t (*rows)(const struct ep_view *view);
	/* NULL: no line of headings. */
	void (*head)(const struct ep_view *view, struct ep_row *line);
	void (*draw)(struct ep_view *view, size_t row, struct ep_row *line);
	/* What search looks at, and `y` copies; borrowed until the next is asked for. NULL: there
	 * is none. */
	const char *(*text)(struct ep_view *view, size_t row);
	/* False: the key is not its own. NULL: it has none. */
	bool (*key)(struct ep_view *view, int key);
	/* Behind the view's name, and a blank; NULL: nothing. */
	void (*title)(const struct ep_view *view, struct ep_row *line);
	void (*close)(struct ep_view *view);
	bool page; /* text: no cursor, and it moves to the left and to the right */
};

struct ep_tui;

struct ep_view {
	const struct ep_view_kind *kind; /* NULL: not open */
	struct ep_tui *tui;
	void *data;          /* the kind's */
	size_t cursor, top;  /* rows; without a cursor `cursor` is where search goes on */
	int left;            /* page: cells */
	int y;               /* the line of its first row, as of the last drawing */
	int height;          /* rows that are seen then; at least 1 */
	bool found;          /* page: the cursor's row is what was searched for */
	const char *message; /* when there are no rows; NULL */
};

void ep_view_draw(struct ep_view *view, int y, int height);

/* A key that moves. False: it is none. */
bool ep_view_move(struct ep_view *view, int key);

/* The row becomes the cursor's, and is seen; a row that there is not is the last one. */
void ep_view_go(struct ep_view *view, size_t row);

enum ep_view_search {
	EP_VIEW_NOWHERE,
	EP_VIEW_FOUND,
	EP_VIEW_ROUND, /* round the end, or the beginning */
};

/* To the next row that has `words`, `step` 1 or -1; `from_here`: the cursor's row counts. Letters
 * of either case are found, where `words` have no capital one. */
enum ep_view_search ep_view_search(struct ep_view *view, const char *words, int step,
				   bool from_here);

/* A click on a line of the screen: the row there becomes the cursor's. False: there is none. */
bool ep_view_click(struct ep_view *view, int line);

void ep_view_close(struct ep_view *view);

/* How rows are sorted, where they can be in more than one way. */
struct ep_view_order {
	unsigned by; /* which of the ways; 0 at first */
	bool reverse;
};

/* `s` and `S`: the next of `ways` and the one before; `r`: the other way round. False: the key is
 * none of these. */
bool ep_view_order_key(struct ep_view_order *order, unsigned ways, int key);

#endif

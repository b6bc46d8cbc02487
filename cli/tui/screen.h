/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen.h: the terminal, by ncurses: what is drawn on it and which keys come. Whatever text is
 * drawn is fit for it: control characters and bytes that are no UTF-8 come out as \xNN, and nothing
 * is drawn outside of its line. One screen a process.
 */
#ifndef EPITAPH_SCREEN_H
#define EPITAPH_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum ep_ink { EP_INK_PLAIN, EP_INK_BOLD, EP_INK_DIM, EP_INK_NAME, EP_INK_WARN, EP_INK_BAR };

/* Where the next character of a line goes. */
struct ep_row {
	int y, x;      /* cells, from 0 */
	int end;       /* exclusive */
	int skip;      /* cells of the text that are left of the screen */
	bool selected; /* drawn inverse, to its end */
};

/* NULL: the terminal can be used. Else what is wrong with it, static. Changes nothing. */
const char *ep_screen_unfit(void);

/* False: ncurses does not know the terminal. From now on exit(3) gives it back, too, and so do
 * signals (give_back.h). */
bool ep_screen_begin(bool colors);
void ep_screen_end(void);

/* The size is never less than one cell. */
int ep_screen_rows(void);
int ep_screen_columns(void);

void ep_screen_clear(void);
void ep_screen_show(void);
/* The next time all of it is drawn: another program has written on it. */
void ep_screen_redraw(void);

/* Clicks and the wheel are keys, too, as far as the terminal has them; it selects no text then
 * without Shift. False at first. */
void ep_screen_mouse(bool on);
bool ep_screen_has_mouse(void);
/* Where it was clicked on, as of the last EP_KEY_CLICK: a line, from 0. */
int ep_screen_clicked(void);

/* For who does long work: whether it is to be left, by q, ESC or Ctrl-C. Other keys that are typed
 * meanwhile are kept. */
bool ep_screen_leaves(void);

/* Waits for a key, for `ms` at most (-1: for ever). EP_KEY_NONE: none came; EP_KEY_RESIZE: the
 * terminal has another size now; EP_KEY_GONE: there is no terminal any more. */
enum {
	EP_KEY_NONE = -1,
	EP_KEY_RESIZE = 0x10000,
	EP_KEY_UP,
	EP_KEY_DOWN,
	EP_KEY_LEFT,
	EP_KEY_RIGHT,
	EP_KEY_PAGE_UP,
	EP_KEY_PAGE_DOWN,
	EP_KEY_HOME,
	EP_KEY_END,
	EP_KEY_ENTER,
	EP_KEY_BACKSPACE,
	EP_KEY_ESCAPE,
	EP_KEY_TAB,
	EP_KEY_BACKTAB,
	EP_KEY_F1,
	EP_KEY_F3,
	EP_KEY_F10,
	EP_KEY_CLICK,
	EP_KEY_DOUBLE_CLICK,
	EP_KEY_WHEEL_UP,
	EP_KEY_WHEEL_DOWN,
	EP_KEY_GONE,
};
int ep_screen_key(int ms);

/* Cells of a text, as it is drawn. */
int ep_screen_width(const char *text);

/* A whole line of the screen, empty. */
struct ep_row ep_row_at(int y, bool selected);
/* Cut at the line's end. */
void ep_row_text(struct ep_row *line, enum ep_ink ink, const char *text);
void ep_row_format(struct ep_row *line, enum ep_ink ink, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Right-aligned in `cells`, never cut, and a blank behind it. Of what does not fit on the line any
 * more nothing is drawn. */
void ep_row_number(struct ep_row *line, enum ep_ink ink, int cells, const char *text);
/* As much as the line has room for but `reserve` cells: a longer one is cut in its middle. */
void ep_row_name(struct ep_row *line, enum ep_ink ink, const char *text, int reserve);
/* The same of a function's name, which is shortened as people say it (short_name.h), unless full
 * names are wanted. */
void ep_row_function(struct ep_row *row, const char *name, int reserve);
void ep_screen_full_names(bool full);
bool ep_screen_has_full_names(void);
/* What is left of it becomes blank. */
void ep_row_blank(struct ep_row *row);
/* The end of each line that is drawn: what is left of it is as `ink` and the selection say. */
void ep_row_finish(struct ep_row *line, enum ep_ink ink);

#endif

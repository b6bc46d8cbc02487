/* SPDX-License-Identifier: BSD-2-Clause */
/* help.c: the keys. Where uftrace and less mean different things by one, it is as in less. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/tui/text_page.h"
#include "cli/tui/tui.h"
#include "coredump/util/alloc.h"

static const char words[] =
	"Screens\n"
	"  1 threads    2 tree       3 functions (R)   4 waits\n"
	"  5 calls      6 report (I) 7 top, of a running process\n"
	"  Tab          the next one; Backtab the one before\n"
	"  a            of all threads, and back to the one that was chosen\n"
	"  q Esc        back, and from the first screen: end;  Q F10 end at once\n"
	"               while something is read: leave it, as Ctrl-C does\n"
	"  h ? F1       this page\n"
	"\n"
	"Moving, as in less\n"
	"  j k arrows   a line          space f b PgUp PgDn   a page\n"
	"  d u ^D ^U    half a page     g G Home End          first, last\n"
	"  :120 :50%    to a row        z  the line in the middle of the screen\n"
	"  / F3  n N    search, next, previous; also > and <, as in uftrace:\n"
	"               letters of either case, unless one is a capital\n"
	"\n"
	"Also\n"
	"  y            the row's name, whole, over the last lines: to copy it\n"
	"  F            whole names of functions, and short ones\n"
	"  M            the mouse: click, double click as Enter, wheel; and off\n"
	"  ^L           draw the screen anew\n"
	"\n"
	"Threads\n"
	"  Enter        its last calls; tree, functions and waits are its own then\n"
	"\n"
	"Tree\n"
	"  Enter        fold, unfold;  right and left, too\n"
	"  e c          unfold one level more, fold all below\n"
	"  E C          unfold, fold everything\n"
	"  u l          to the caller, to what took longest in it\n"
	"  ( )          the one before, the next one of the same caller\n"
	"\n"
	"Tables\n"
	"  s S          sort by the next column, by the one before;  r reverse\n"
	"  Enter        functions: where it took most time in the tree\n"
	"\n"
	"Calls\n"
	"  +            ten times as many, further back\n"
	"\n"
	"Top\n"
	"  p            stop looking, and go on;  w the waits, or the functions alone\n";

static void close_help(struct ep_view *view)
{
	ep_text_page_deinit(view->data);
	free(view->data);
}

void ep_tui_help_open(struct ep_view *view)
{
	struct ep_text_page *page = ep_calloc(1, sizeof(*page));

	view->data = page;
	fputs(words, ep_text_page_write(page));
	ep_text_page_written(page);
}

const struct ep_view_kind ep_tui_help = {
	.name = "keys",
	.hints = "q back",
	.rows = ep_text_page_rows,
	.draw = ep_text_page_draw,
	.text = ep_text_page_text,
	.close = close_help,
	.page = true,
};

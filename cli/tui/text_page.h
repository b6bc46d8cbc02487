/* SPDX-License-Identifier: BSD-2-Clause */
/* text_page.h: a screen that is lines of text, as less has them. */
#ifndef EPITAPH_TEXT_PAGE_H
#define EPITAPH_TEXT_PAGE_H

#include <stdio.h>

#include "cli/tui/view.h"
#include "coredump/util/array.h"

/* Zeroes: an empty one. */
struct ep_text_page {
	char *text; /* owned; its lines end in NUL */
	size_t size;
	EP_ARRAY(const char *) lines;
	FILE *out; /* private */
};

/* A stream to write the page's text to, until ep_text_page_written; what was there is gone. */
FILE *ep_text_page_write(struct ep_text_page *page);
void ep_text_page_written(struct ep_text_page *page);
void ep_text_page_deinit(struct ep_text_page *page);

/* Members of a kind whose data begin with a struct ep_text_page. */
size_t ep_text_page_rows(const struct ep_view *view);
void ep_text_page_draw(struct ep_view *view, size_t row, struct ep_row *line);
const char *ep_text_page_text(struct ep_view *view, size_t row);

#endif

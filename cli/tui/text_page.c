/* SPDX-License-Identifier: BSD-2-Clause */
/* text_page.c: text, cut into lines. */
#include "cli/tui/text_page.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

FILE *ep_text_page_write(struct ep_text_page *page)
{
	ep_text_page_deinit(page);
	page->out = ep_open_memstream(&page->text, &page->size);
	return page->out;
}

void ep_text_page_written(struct ep_text_page *page)
{
	char *at, *end, *newline;

	ep_close_memstream(page->out);
	page->out = NULL;
	end = page->text + page->size;
	for (at = page->text; at < end; at = newline + 1) {
		ep_array_push(&page->lines, (const char *)at);
		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			break;
		*newline = '\0';
	}
}

void ep_text_page_deinit(struct ep_text_page *page)
{
	free(page->text);
	page->text = NULL;
	page->size = 0;
	ep_array_deinit(&page->lines);
}

static struct ep_text_page *page_of(const struct ep_view *view)
{
	return view->data;
}

size_t ep_text_page_rows(const struct ep_view *view)
{
	return page_of(view)->lines.count;
}

/* A tab is a blank here, and stands in no text of ours. */
void ep_text_page_draw(struct ep_view *view, size_t row, struct ep_row *line)
{
	ep_row_text(line, EP_INK_PLAIN, page_of(view)->lines.list[row]);
}

const char *ep_text_page_text(struct ep_view *view, size_t row)
{
	return page_of(view)->lines.list[row];
}

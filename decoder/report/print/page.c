/* SPDX-License-Identifier: BSD-2-Clause */
/* page.c: bytes and times as a page shows them. */
#include "decoder/report/print/page.h"

#include <stdio.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"
#include "decoder/names/short_name.h"

char *ep_page_escape(const char *text)
{
	return ep_utf8_escape(text, strlen(text));
}

char *ep_page_name(const struct ep_page *page, const char *name)
{
	char *said;

	if (page->look->full_names)
		return ep_strdup(name);
	said = ep_short_name(name);
	if (page->brief)
		ep_cut_parameters(said);
	return said;
}

const char *ep_page_path(const struct ep_page *page, const char *file)
{
	size_t length = page->directory ? strlen(page->directory) : 0;

	return length && !page->look->full_names && strncmp(file, page->directory, length) == 0 &&
			       file[length] == '/'
		       ? file + length + 1
		       : file;
}

const char *ep_page_ago(struct ep_page *page, const struct ep_time *time,
			char out[EP_PAGE_AGO_SIZE])
{
	char text[EP_END_AGO_SIZE];

	bool rough = !time->exact;

	if (time->high == EP_TIME_UNKNOWN) {
		snprintf(out, EP_PAGE_AGO_SIZE, "?");
	} else {
		rough &= !page->trace->end.later || ep_trace_ago(page->trace, time->best) > 0;
		snprintf(out, EP_PAGE_AGO_SIZE, "%s%s", rough ? "~" : "",
			 ep_end_ago_text(page->trace, time->best, text));
	}
	page->approximate |= rough;
	return out;
}

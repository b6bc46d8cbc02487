/* SPDX-License-Identifier: BSD-2-Clause */
/* page.c: bytes and times as a page shows them. */
#include "decoder/report/print/page.h"

#include <stdio.h>
#include <string.h>

#include "coredump/util/utf8.h"

char *ep_page_escape(const char *text)
{
	return ep_utf8_escape(text, strlen(text));
}

const char *ep_page_ago(struct ep_page *page, const struct ep_time *time,
			char out[EP_TIMETEXT_SIZE + 2])
{
	char text[EP_TIMETEXT_SIZE];

	page->approximate |= !time->exact;
	if (time->high == EP_TIME_UNKNOWN)
		snprintf(out, EP_TIMETEXT_SIZE + 2, "?");
	else
		snprintf(out, EP_TIMETEXT_SIZE + 2, "%s%s", time->exact ? "" : "~",
			 ep_timetext(text, ep_trace_ago(page->trace, time->best)));
	return out;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* page.h: the parts of a page of text, for each other. */
#ifndef EPITAPH_REPORT_PAGE_H
#define EPITAPH_REPORT_PAGE_H

#include "decoder/report/print/print.h"
#include "decoder/util/timetext.h"

struct ep_page {
	FILE *out;
	const struct ep_report *report;
	const struct ep_trace *trace; /* the report's */
	const struct ep_replay_style *style;
	const char *bold;
	bool approximate; /* a time with ~, > or ? was printed */
};

/* Bytes from the process, fit for a terminal. The caller frees it. */
char *ep_page_escape(const char *text);
/* "~1.234 us": how long before the end; "?" when that is not known. */
const char *ep_page_ago(struct ep_page *page, const struct ep_time *time,
			char out[EP_TIMETEXT_SIZE + 2]);
/* Where the thread died: source lines, arguments and locals. */
void ep_page_place(struct ep_page *page, const struct ep_report_place *place);
/* Heading, state, stack, open calls and last calls. */
void ep_page_thread(struct ep_page *page, const struct ep_report_thread *thread);
/* "#0 …" lines, each with its verdict, and the calls without a frame. */
void ep_page_stack(struct ep_page *page, const struct ep_report_thread *thread);
/* One line: "read < serve_connection < worker_main". */
void ep_page_stack_line(struct ep_page *page, const struct ep_report_thread *thread);

#endif

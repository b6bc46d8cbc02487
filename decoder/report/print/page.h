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
	const struct ep_page_look *look;
	const struct ep_replay_style *style; /* the look's */
	const char *bold;
	size_t columns;
	bool brief;            /* one screen: report->limits.page */
	const char *directory; /* the program was built in; NULL unknown */
	bool without_open;     /* of the last calls, those that did not return are left out */
	bool approximate;      /* a time with ~, > or ? was printed */
};

/* Bytes from the process, fit for a terminal. The caller frees it. */
char *ep_page_escape(const char *text);
/* A function as the page names it. The caller frees it. */
char *ep_page_name(const struct ep_page *page, const char *name);
/* A source file relative to the directory that the program was built in. Borrowed from `file`. */
const char *ep_page_path(const struct ep_page *page, const char *file);
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
/* "waits for mutex 0x…, held by thread 4711"; `count` threads do, the first is `self`. */
void ep_page_wait(struct ep_page *page, const struct ep_lock_wait *wait, size_t count,
		  uint32_t self);
/* Who waits for each other. */
void ep_page_deadlocks(struct ep_page *page);
/* The other threads, those that do the same in a line, in at most `lines` of them. */
void ep_page_groups(struct ep_page *page, size_t lines);

#endif

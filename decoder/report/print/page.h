/* SPDX-License-Identifier: BSD-2-Clause */
/* page.h: the parts of a page of text, for each other. */
#ifndef EPITAPH_REPORT_PAGE_H
#define EPITAPH_REPORT_PAGE_H

#include "decoder/kernel/end.h"
#include "decoder/report/print/print.h"
#include "decoder/util/timetext.h"

/* What takes lines on a page of one screen, and gets fewer where the page is too long. */
enum ep_share {
	EP_SHARE_VARIABLES,
	EP_SHARE_WATCHDOGS,
	EP_SHARE_ROWS,   /* frames and inlined calls */
	EP_SHARE_CALLS,  /* last ones */
	EP_SHARE_GROUPS, /* at least; they get what is left of the screen */
	EP_SHARE_WARNINGS,
	EP_SHARES,
};

struct ep_page_shares {
	size_t most[EP_SHARES];    /* SIZE_MAX: all */
	size_t printed[EP_SHARES]; /* of these, by the last try */
	size_t least;              /* the lower bounds in force: shares.c */
	size_t spare;              /* lines that the groups leave free */
	size_t head;               /* lines of all before the groups; SIZE_MAX any */
	bool tight;                /* lines are cut, not continued */
};

/* All of everything, or a screen's. */
void ep_page_shares_init(struct ep_page_shares *shares, bool brief);
/* After a try that took `lines`, of which `head` stand before the groups: makes the next one
 * shorter. False: it fits, or nothing more can be done. */
bool ep_page_shares_shrink(struct ep_page_shares *shares, size_t lines, size_t head);

struct ep_page {
	FILE *out;
	struct ep_page_shares shares;
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
/* "~1.234 us", "at least 1.234 us": how long before the end (end.h); "?" when that is not known. */
#define EP_PAGE_AGO_SIZE (EP_END_AGO_SIZE + 2)
const char *ep_page_ago(struct ep_page *page, const struct ep_time *time,
			char out[EP_PAGE_AGO_SIZE]);
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

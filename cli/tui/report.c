/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: the page of epitaph report. */
#include <stdlib.h>

#include "cli/common/findings.h"
#include "cli/tui/text_page.h"
#include "cli/tui/tui.h"
#include "coredump/util/alloc.h"
#include "decoder/report/print/print.h"

/* As wide as the screen, where a page can be. */
static size_t columns(void)
{
	int columns = ep_screen_columns();

	return columns < 80 ? 80 : columns > 200 ? 200 : (size_t)columns;
}

/* Read once, and printed for each width. */
struct report {
	struct ep_text_page page;
	struct ep_findings findings;
	struct ep_report report;
	size_t columns; /* as it was printed */
	bool full;      /* names */
};

static struct report *report_of(const struct ep_view *view)
{
	return view->data;
}

static void print_report(struct report *report)
{
	const struct ep_page_look look = {
		.style = {"", "", "", "", false, report->full},
		.bold = "",
		.columns = report->columns,
		.full_names = report->full,
	};

	ep_report_print_text(&report->report, ep_text_page_write(&report->page), &look);
	ep_text_page_written(&report->page);
}

/* Anew where the terminal has another width, or names are wanted otherwise. */
static size_t count_rows(const struct ep_view *view)
{
	struct report *report = report_of(view);
	bool full = ep_screen_has_full_names();

	if (report->columns != columns() || report->full != full) {
		report->columns = columns();
		report->full = full;
		print_report(report);
	}
	return ep_text_page_rows(view);
}

static void close_report(struct ep_view *view)
{
	struct report *report = report_of(view);

	ep_text_page_deinit(&report->page);
	ep_report_deinit(&report->report);
	ep_findings_deinit(&report->findings);
	free(report);
}

void ep_tui_report_open(struct ep_view *view)
{
	struct ep_session *session = &view->tui->session;
	struct report *report = ep_calloc(1, sizeof(*report));

	view->data = report;
	ep_findings_init(&report->findings, session);
	ep_report_init(&report->report, &report->findings.evidence, &ep_report_page_limits,
		       ep_findings_kept(session));
}

const struct ep_view_kind ep_tui_report = {
	.name = "report",
	.hints = "arrows to all sides",
	.rows = count_rows,
	.draw = ep_text_page_draw,
	.text = ep_text_page_text,
	.close = close_report,
	.page = true,
};

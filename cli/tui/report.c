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

static void print_report(struct ep_session *session, FILE *out)
{
	const bool full = ep_screen_has_full_names();
	const struct ep_page_look look = {
		.style = {"", "", "", "", false, full},
		.bold = "",
		.columns = columns(),
		.full_names = full,
	};
	struct ep_findings findings = {0};
	struct ep_report report;

	ep_findings_init(&findings, session);
	ep_report_init(&report, &findings.evidence, &ep_report_page_limits,
		       ep_findings_kept(session));
	ep_report_print_text(&report, out, &look);
	ep_report_deinit(&report);
	ep_findings_deinit(&findings);
}

static void close_report(struct ep_view *view)
{
	ep_text_page_deinit(view->data);
	free(view->data);
}

void ep_tui_report_open(struct ep_view *view)
{
	struct ep_text_page *page = ep_calloc(1, sizeof(*page));

	view->data = page;
	print_report(&view->tui->session, ep_text_page_write(page));
	ep_text_page_written(page);
}

const struct ep_view_kind ep_tui_report = {
	.name = "report",
	.hints = "arrows to all sides",
	.rows = ep_text_page_rows,
	.draw = ep_text_page_draw,
	.text = ep_text_page_text,
	.close = close_report,
	.page = true,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* print.h: a complete report on a page of text, or as JSON. Finds nothing out. The caller checks
 * `out` for write errors. */
#ifndef EPITAPH_REPORT_PRINT_H
#define EPITAPH_REPORT_PRINT_H

#include <stdio.h>

#include "decoder/export/replay.h"
#include "decoder/report/model.h"

/* How a page looks. */
struct ep_page_look {
	struct ep_replay_style style;
	const char *bold; /* an escape sequence, "" none */
	size_t columns;   /* of a line; EP_FIT_ALL (fit.h) */
	bool full_names;
};

#define EP_PAGE_LINES 50u /* of a screen, which a page of limits.page fits */

void ep_report_print_text(const struct ep_report *report, FILE *out,
			  const struct ep_page_look *look);

/* One object, by docs/report.schema.json. */
void ep_report_print_json(const struct ep_report *report, FILE *out);

#endif

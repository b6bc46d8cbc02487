/* SPDX-License-Identifier: BSD-2-Clause */
/* wait_rows.c: a wait's numbers, its call, and who ended it. */
#include "cli/tui/wait_rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "decoder/util/timetext.h"

#define COLUMN 11
#define WAKER  32 /* cells at its end, where there is room */

const char *ep_wait_row_name(const struct ep_wait *wait)
{
	if (wait->function)
		return wait->function->name;
	return wait->inside ? "(in which call is not known)" : "(outside of all known calls)";
}

void ep_wait_row_head(struct ep_row *line)
{
	ep_row_number(line, EP_INK_BOLD, COLUMN, "waited");
	if (ep_screen_columns() >= 60) {
		ep_row_number(line, EP_INK_BOLD, 8, "waits");
		ep_row_number(line, EP_INK_BOLD, COLUMN, "longest");
	}
	ep_row_text(line, EP_INK_BOLD, "call < caller, and who ended most of it");
}

static void draw_waker(const struct ep_trace *trace, const struct ep_wait *wait,
		       struct ep_row *line)
{
	char text[128];

	if (!wait->waker_count)
		return;
	ep_row_text(line, EP_INK_DIM, "  ended by ");
	ep_row_name(line, EP_INK_PLAIN,
		    ep_waker_text(text, sizeof(text), trace->schedule, &wait->wakers[0].slice), 0);
}

void ep_wait_row_draw(const struct ep_trace *trace, const struct ep_wait *wait, struct ep_row *line)
{
	char text[EP_TIMETEXT_SIZE];
	bool wide = ep_screen_columns() >= 60;
	int reserve = wide && wait->waker_count ? WAKER : 0;

	ep_row_number(line, EP_INK_PLAIN, COLUMN, ep_timetext(text, wait->total));
	if (wide) {
		snprintf(text, sizeof(text), "%" PRIu64, wait->count);
		ep_row_number(line, EP_INK_PLAIN, 8, text);
		ep_row_number(line, EP_INK_PLAIN, COLUMN, ep_timetext(text, wait->longest));
	}
	if (wait->inside && wait->function)
		ep_row_text(line, EP_INK_DIM, "somewhere inside ");
	if (wait->function)
		ep_row_function(line, wait->function->name,
				wide && wait->caller ? reserve + 12 : 0);
	else
		ep_row_text(line, EP_INK_WARN, ep_wait_row_name(wait));
	if (!wide)
		return;
	if (wait->caller) {
		ep_row_text(line, EP_INK_DIM, " < ");
		ep_row_function(line, wait->caller->name, reserve);
	}
	if (wait->open)
		ep_row_format(line, EP_INK_WARN, "  %" PRIu64 " had not ended", wait->open);
	draw_waker(trace, wait, line);
}

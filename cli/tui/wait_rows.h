/* SPDX-License-Identifier: BSD-2-Clause */
/* wait_rows.h: where threads waited, as rows. */
#ifndef EPITAPH_WAIT_ROWS_H
#define EPITAPH_WAIT_ROWS_H

#include "cli/tui/screen.h"
#include "decoder/stats/waits.h"

void ep_wait_row_head(struct ep_row *line);
void ep_wait_row_draw(const struct ep_trace *trace, const struct ep_wait *wait,
		      struct ep_row *line);
/* The function's name, or words for what is not known. Borrowed. */
const char *ep_wait_row_name(const struct ep_wait *wait);

#endif

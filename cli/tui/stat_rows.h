/* SPDX-License-Identifier: BSD-2-Clause */
/* stat_rows.h: a function's numbers as a row: those that the terminal has room for, and its name.
 */
#ifndef EPITAPH_STAT_ROWS_H
#define EPITAPH_STAT_ROWS_H

#include "cli/tui/screen.h"
#include "decoder/stats/stats.h"

/* Zeroes: by self time. */
struct ep_stat_columns {
	enum ep_stats_key key; /* that they are sorted by */
	bool reverse;
	bool open;  /* the process runs: calls that did not return have not yet */
	bool waits; /* it is known when threads waited */
};

bool ep_stat_has_schedule(const struct ep_trace *trace);
void ep_stat_row_head(const struct ep_stat_columns *columns, struct ep_row *line);
void ep_stat_row_draw(const struct ep_stat_columns *columns, const struct ep_stat *stat,
		      struct ep_row *line);

/* `s` and `S`: by the next and the one before, of those that are seen; `r`: reversed. False: the
 * key is none of these. */
bool ep_stat_columns_key(struct ep_stat_columns *columns, int key);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* stat_rows.c: which columns there are, and when. */
#include "cli/tui/stat_rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "decoder/kernel/schedule.h"
#include "decoder/util/timetext.h"

#define COLUMN 11 /* cells, without the blank behind it */
#define OPEN   18 /* cells of "1 did not return" */
#define NAME   16 /* that the name has at least */

/* In the order in which they stand. Those that the terminal has no room for go, the last first, but
 * the one that it is sorted by. */
static const struct {
	const char *head;
	enum ep_stats_key key;
	bool waits;
} table[] = {
	{"self", EP_STATS_SELF, false},      {"total", EP_STATS_TOTAL, false},
	{"calls", EP_STATS_CALLS, false},    {"waiting", EP_STATS_WAITING, true},
	{"running", EP_STATS_RUNNING, true}, {"median", EP_STATS_MEDIAN, false},
	{"p99", EP_STATS_P99, false},        {"max", EP_STATS_MAX, false},
	{"name", EP_STATS_NAME, false},
};
#define COLUMNS (sizeof(table) / sizeof(*table))

bool ep_stat_has_schedule(const struct ep_trace *trace)
{
	return trace->schedule && trace->schedule->first < trace->schedule->last;
}

static bool is_there(const struct ep_stat_columns *columns, size_t i)
{
	return columns->waits || !table[i].waits;
}

/* The name's is always seen, and is none of the numbers. */
static bool is_seen(const struct ep_stat_columns *columns, size_t wanted)
{
	int room = ep_screen_columns() - NAME - (COLUMN + 1);

	if (!is_there(columns, wanted) || table[wanted].key == EP_STATS_NAME)
		return false;
	if (table[wanted].key == columns->key)
		return true;
	for (size_t i = 0; i <= wanted; i++)
		if (is_there(columns, i) && table[i].key != columns->key)
			room -= COLUMN + 1;
	return room >= 0;
}

void ep_stat_row_head(const struct ep_stat_columns *columns, struct ep_row *line)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%s%s", table[i].head,
			 table[i].key != columns->key ? ""
			 : columns->reverse           ? "^"
						      : "v");
		if (table[i].key == EP_STATS_NAME)
			ep_row_text(line, EP_INK_BOLD, text);
		else if (is_seen(columns, i))
			ep_row_number(line, EP_INK_BOLD, COLUMN, text);
	}
}

static void draw_number(const struct ep_stat *stat, enum ep_stats_key key, struct ep_row *line)
{
	char text[EP_TIMETEXT_SIZE];
	int64_t value = ep_stat_value(stat, key);
	bool untimed = key != EP_STATS_SELF && key != EP_STATS_TOTAL && key != EP_STATS_RUNNING &&
		       key != EP_STATS_WAITING && !stat->timed;

	if (key == EP_STATS_CALLS)
		snprintf(text, sizeof(text), "%" PRIu64, stat->calls);
	else if (untimed || (stat->function->span && key == EP_STATS_SELF))
		snprintf(text, sizeof(text), "-");
	else if (key == EP_STATS_SELF)
		ep_timetext_range(text, value, stat->self_least, stat->self_most);
	else if (key == EP_STATS_TOTAL)
		ep_timetext_range(text, value, stat->total_least, stat->total_most);
	else
		ep_timetext(text, value);
	ep_row_number(line, EP_INK_PLAIN, COLUMN, text);
}

void ep_stat_row_draw(const struct ep_stat_columns *columns, const struct ep_stat *stat,
		      struct ep_row *line)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (is_seen(columns, i))
			draw_number(stat, table[i].key, line);
	ep_row_function(line, stat->function->name,
			stat->open && ep_screen_columns() >= 60 ? OPEN : 0);
	if (stat->open)
		ep_row_format(line, EP_INK_DIM, "  %" PRIu64 "%s", stat->open,
			      columns->open ? " open" : " did not return");
}

static size_t column_of(const struct ep_stat_columns *columns)
{
	size_t at = 0;

	while (table[at].key != columns->key)
		at++;
	return at;
}

bool ep_stat_columns_key(struct ep_stat_columns *columns, int key)
{
	size_t at = column_of(columns);

	if (key == 'r') {
		columns->reverse = !columns->reverse;
		return true;
	}
	if (key != 's' && key != 'S')
		return false;
	do
		at = (at + (key == 's' ? 1 : COLUMNS - 1)) % COLUMNS;
	while (!is_there(columns, at));
	columns->key = table[at].key;
	columns->reverse = false;
	return true;
}

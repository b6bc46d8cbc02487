/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grid.h: a table as text, CSV or JSON: its columns are declared once, its rows are values; and
 * --csv, --json and --limit of the commands that print one.
 */
#ifndef EPITAPH_GRID_H
#define EPITAPH_GRID_H

#include <stdint.h>
#include <stdio.h>

#include "cli/common/option.h"
#include "cli/common/say.h"
#include "decoder/util/json.h"

enum ep_layout { EP_LAYOUT_TEXT, EP_LAYOUT_CSV, EP_LAYOUT_JSON };

struct ep_table_form {
	enum ep_layout layout;
	uint64_t limit; /* rows that are shown; 0: all */
};

/* 0, or EP_EXIT_USAGE with a message. */
int ep_choose_form(struct ep_table_form *form, const struct ep_arguments *arguments);

/* How many of `count` rows are shown. */
size_t ep_form_rows(const struct ep_table_form *form, size_t count);

/*
 * Columns stand in the order in which they are declared. What text says otherwise, or elsewhere,
 * than CSV and JSON do is two columns: one without a key, one without a head.
 */
struct ep_column {
	const char *head;      /* in text, "" over what says itself; NULL: not there */
	const char *key;       /* in CSV and JSON; NULL: in neither */
	int width;             /* columns of text; negative: its cells begin at the left; 0: no more
				  than they take */
	unsigned drop;         /* its turn to be left out where a terminal is too narrow for all,
				  from 1 to EP_COLUMN_DROPS; 0: it stays */
	enum ep_color color;   /* of cells of no width */
	enum ep_layout not_in; /* CSV or JSON, which has no such column; TEXT: both have it */
	bool name;             /* a function's: on a terminal short, and cut to what is left */
	bool optional;         /* JSON has no member where there is no value, else null */
};
#define EP_COLUMN_DROPS 5u

/* A value. Zeroes: there is none: "-" in text, nothing where the column has no width; an empty
 * field of CSV. Text is borrowed until the row is printed. */
struct ep_cell {
	enum ep_cell_kind {
		EP_CELL_ABSENT,
		EP_CELL_COUNT,   /* number */
		EP_CELL_NS,      /* ns: a duration */
		EP_CELL_RANGE,   /* ns, least, most: likely so long; in CSV and JSON `ns` alone */
		EP_CELL_TEXT,    /* text: in CSV in quotes, quotes doubled (RFC 4180); what a
				    spreadsheet would run begins with a ' */
		EP_CELL_WORD,    /* text, which needs no quotes; not in text */
		EP_CELL_ADDRESS, /* number; not in text */
		EP_CELL_TRUTH,   /* number: 0 or 1 */
	} kind;
	bool dash;          /* text says "-" all the same */
	const char *before; /* in text, in front of it; NULL: nothing */
	union {
		uint64_t number;
		struct {
			int64_t ns, least, most;
		};
		const char *text;
	};
};

#define EP_COUNT(value) ((struct ep_cell){.kind = EP_CELL_COUNT, .number = (value)})
#define EP_NS(value)    ((struct ep_cell){.kind = EP_CELL_NS, .ns = (value)})
#define EP_RANGE(likely, low, high) \
	((struct ep_cell){.kind = EP_CELL_RANGE, .ns = (likely), .least = (low), .most = (high)})
#define EP_TEXT(value)    ((struct ep_cell){.kind = EP_CELL_TEXT, .text = (value)})
#define EP_WORD(value)    ((struct ep_cell){.kind = EP_CELL_WORD, .text = (value)})
#define EP_ADDRESS(value) ((struct ep_cell){.kind = EP_CELL_ADDRESS, .number = (value)})
#define EP_TRUTH(value)   ((struct ep_cell){.kind = EP_CELL_TRUTH, .number = (value)})
#define EP_ABSENT         ((struct ep_cell){0})
#define EP_BEHIND(words, value) \
	((struct ep_cell){.kind = EP_CELL_TEXT, .before = (words), .text = (value)})

/*
 * A command's columns, each with its value: LIST(X) is of X(NAME, cell, values of a struct
 * ep_column). EP_COLUMNS makes the names numbers, COLUMNS of them, and the array `columns`; in
 * EP_CELLS, an array's initializer, cells may be made of what is in scope.
 */
#define EP_COLUMNS(LIST)                       \
	enum { LIST(EP_COLUMN_NAME) COLUMNS }; \
	static const struct ep_column columns[COLUMNS] = {LIST(EP_COLUMN_VALUES)}
#define EP_CELLS(LIST)               \
	{                            \
		LIST(EP_COLUMN_CELL) \
	}
#define EP_COLUMN_NAME(name, cell, ...)   name,
#define EP_COLUMN_VALUES(name, cell, ...) [name] = {__VA_ARGS__},
#define EP_COLUMN_CELL(name, cell, ...)   [name] = cell,

/* All but the bytes that it writes is borrowed; nothing is to be freed. */
struct ep_grid {
	FILE *out;
	enum ep_layout layout;
	const struct ep_column *columns;
	size_t count;
	uint64_t hidden;  /* a bit a column */
	size_t names;     /* text: the first column behind the numbers */
	size_t width;     /* of the terminal; 0: nothing is cut */
	size_t used;      /* of the line */
	const char *rows; /* JSON: see ep_grid_head */
	struct ep_json json;
};

/* `count` is at most 64. */
void ep_grid_init(struct ep_grid *grid, FILE *out, enum ep_layout layout,
		  const struct ep_column *columns, size_t count);

/* Before the head. */
void ep_grid_hide(struct ep_grid *grid, size_t column);

/* Before the head, of text: columns go, but not `kept`, until a name has room. `width`: see
 * ep_terminal_columns. */
void ep_grid_fit(struct ep_grid *grid, size_t width, size_t kept);

/* JSON: begins the object around the rows; the caller may add members. Another layout: NULL. */
struct ep_json *ep_grid_object(struct ep_grid *grid, const char *format);

/* `rows`: the name of their array in that object; NULL: JSON is an array, and there is no object.
 */
void ep_grid_head(struct ep_grid *grid, const char *rows);

/* A cell for each column, hidden or not. The caller may add to the line, or members. */
void ep_grid_row_begin(struct ep_grid *grid, const struct ep_cell *cells);
void ep_grid_row_end(struct ep_grid *grid);

/* What fits behind the row on the terminal, at least 1, or EP_FIT_ALL. */
size_t ep_grid_room(const struct ep_grid *grid);

/* Of JSON. Why `out` failed is for the caller to tell. */
void ep_grid_finish(struct ep_grid *grid);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_file.h: one table as a CSV file (RFC 4180, lines end in \n): a line of names, then rows. A
 * value that is not known, and an empty text, is nothing at all between commas: NULL to whoever
 * reads it.
 */
#ifndef EPITAPH_TABLE_FILE_H
#define EPITAPH_TABLE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coredump/util/error.h"
#include "decoder/util/outbuf.h"

struct ep_table_column {
	const char *name; /* NULL behind the last */
	const char *type; /* DuckDB's word */
};

struct ep_table_spec {
	const char *name;
	const char *what; /* in words, for the schema */
	const struct ep_table_column *columns;
};

struct ep_table_file {
	struct ep_outbuf out;
	FILE *file; /* owned; NULL: not open */
	bool row;   /* it has a cell already */
};

/* Takes `file` over, and writes the names. */
void ep_table_begin(struct ep_table_file *table, FILE *file, const struct ep_table_spec *spec);
/* EP_OK, or EP_E_IO with errno's words; closes the file. */
int ep_table_end(struct ep_table_file *table, struct ep_err *err);

static inline void ep_table_cell(struct ep_table_file *table)
{
	if (table->row)
		ep_outbuf_put(&table->out, ",", 1);
	table->row = true;
}

static inline void ep_table_int(struct ep_table_file *table, int64_t value)
{
	ep_table_cell(table);
	ep_outbuf_int(&table->out, value);
}

static inline void ep_table_uint(struct ep_table_file *table, uint64_t value)
{
	ep_table_cell(table);
	ep_outbuf_uint(&table->out, value);
}

static inline void ep_table_bool(struct ep_table_file *table, bool value)
{
	ep_table_cell(table);
	ep_outbuf_text(&table->out, value ? "true" : "false");
}

/* `count` values that are not known. */
static inline void ep_table_null(struct ep_table_file *table, unsigned count)
{
	while (count--)
		ep_table_cell(table);
}

/* Any bytes; control characters and what is no UTF-8 come out as \xNN, and what a spreadsheet would
 * run has a ' before it. NULL and "" are not known. */
void ep_table_text(struct ep_table_file *table, const char *text);
/* A word of ours. */
void ep_table_word(struct ep_table_file *table, const char *word);

static inline void ep_table_row(struct ep_table_file *table)
{
	ep_outbuf_put(&table->out, "\n", 1);
	table->row = false;
}

#endif

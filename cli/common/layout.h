/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.h: --csv, --json and --limit of the commands that print a table. */
#ifndef EPITAPH_LAYOUT_H
#define EPITAPH_LAYOUT_H

#include <stdint.h>

#include "cli/common/option.h"

enum ep_layout { EP_LAYOUT_TEXT, EP_LAYOUT_CSV, EP_LAYOUT_JSON };

struct ep_table_form {
	enum ep_layout layout;
	uint64_t limit; /* rows that are shown; 0: all */
};

/* 0, or EP_EXIT_USAGE with a message. */
int ep_choose_form(struct ep_table_form *form, const struct ep_arguments *arguments);

/* How many of `count` rows are shown. */
size_t ep_form_rows(const struct ep_table_form *form, size_t count);

/* A field of CSV on stdout, in quotes, quotes doubled (RFC 4180); what a spreadsheet would run
 * begins with a '. */
void ep_csv_field(const char *text);

#endif

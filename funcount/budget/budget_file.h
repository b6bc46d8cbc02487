/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budget_file.h: small text files that people and programs both write: [sections] of `key = value`
 * lines, # comments. What a program changes is changed in place: comments, order, blank lines and
 * spaces of all other lines stay byte for byte.
 *
 * 	# why this limit
 * 	[test parse-big]
 * 	calls = 1200000		# measured in spring
 */
#ifndef EPITAPH_BUDGET_FILE_H
#define EPITAPH_BUDGET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "coredump/util/error.h"

#define EP_SHEET_BYTES ((size_t)4 << 20) /* of a file, at most */
#define EP_SHEET_LINES ((size_t)20000)

enum ep_sheet_kind { EP_SHEET_OTHER, EP_SHEET_SECTION, EP_SHEET_ENTRY };

struct ep_sheet_line {
	enum ep_sheet_kind kind;
	char *text;    /* the whole line, without its newline */
	char *section; /* of a section and of an entry: its section's name; ""
			  before the first */
	char *key;     /* of an entry */
	char *value;   /* of an entry, without comment and outer blanks */
	size_t at;     /* where the value begins in `text` */
	size_t hash;   /* of section and key */
};

struct ep_sheet {
	char *name; /* for messages */
	struct ep_sheet_line *lines;
	size_t count, capacity;
};

/*
 * Takes the text apart. EP_E_FORMAT, with line and column: neither blank, comment, [section] nor
 * key = value; a section or a key of one section is there twice; a byte that is no text.
 * EP_E_LIMIT: it is too long.
 */
int ep_sheet_parse(struct ep_sheet *sheet, const char *name, const char *text, size_t size,
		   struct ep_err *err);
/* Reads a regular file. EP_END: it does not exist; the sheet is empty then. */
int ep_sheet_read(struct ep_sheet *sheet, const char *path, struct ep_err *err);
void ep_sheet_deinit(struct ep_sheet *sheet); /* zeroed is allowed */

/* The entry, or NULL. Borrowed until a change. */
const struct ep_sheet_line *ep_sheet_find(const struct ep_sheet *sheet, const char *section,
					  const char *key);
bool ep_sheet_has_section(const struct ep_sheet *sheet, const char *section);
/* Its value, or NULL. Borrowed until a change. */
const char *ep_sheet_get(const struct ep_sheet *sheet, const char *section, const char *key);

/*
 * Changes the value in place, or adds the line behind the section's last entry, or adds a section
 * at the end. EP_E_USAGE: the name or the value cannot be written so that it is read back.
 */
int ep_sheet_set(struct ep_sheet *sheet, const char *section, const char *key, const char *value,
		 struct ep_err *err);
/* Removes the section's entry, if there. */
void ep_sheet_unset(struct ep_sheet *sheet, const char *section, const char *key);

/* Where a line's value stands, for messages: 1-based. */
size_t ep_sheet_line_number(const struct ep_sheet *sheet, const struct ep_sheet_line *line);
/* Yields EP_E_FORMAT with "name:line:column: " and the words. */
int ep_sheet_refuse(const struct ep_sheet *sheet, const struct ep_sheet_line *line,
		    struct ep_err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Writes all lines. Errors are the FILE's. */
void ep_sheet_print(const struct ep_sheet *sheet, FILE *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keyfile.h: small text files of [sections] with `key = value` lines, as budget files, costs and
 * results are. A comment begins with a # at a line's start or behind a blank.
 *
 * 	# why this limit
 * 	[test parse-big]
 * 	max-calls = 1200000	# measured in spring
 */
#ifndef EPITAPH_KEYFILE_H
#define EPITAPH_KEYFILE_H

#include "coredump/util/array.h"
#include "coredump/util/error.h"
#include "coredump/util/hash.h"

#define EP_KEYFILE_BYTES ((size_t)4 << 20) /* of a file, at most */

/* A section's opening, or a key with its value; in the order of the file. */
struct ep_keyfile_line {
	const char *section;   /* its name; "" before the first */
	const char *key;       /* NULL: the section's opening */
	const char *value;     /* without comment and outer blanks */
	size_t number, column; /* where the value begins, or the opening; from 1 */
};

struct ep_keyfile {
	char *name; /* for messages */
	char *text; /* owns what the lines point to */
	EP_ARRAY(struct ep_keyfile_line) lines;
	struct ep_hash index; /* of lines, by section and key */
};

/*
 * Takes the text apart. EP_E_FORMAT, with line and column: neither blank, comment, [section] nor
 * key = value; a section or a key of one section is there twice; a byte that is no text.
 * EP_E_LIMIT: it is too long. There is nothing to deinit then.
 */
int ep_keyfile_parse(struct ep_keyfile *file, const char *name, const char *text, size_t size,
		     struct ep_err *err);
/* Reads a regular file. EP_END: it does not exist; there are no lines then. */
int ep_keyfile_read(struct ep_keyfile *file, const char *path, struct ep_err *err);
void ep_keyfile_deinit(struct ep_keyfile *file); /* zeroed is allowed */

/* The section's key, or the section's opening (key NULL); NULL: there is none. */
const struct ep_keyfile_line *ep_keyfile_find(const struct ep_keyfile *file, const char *section,
					      const char *key);

/* Yields EP_E_FORMAT with "name:line:column: " and the words. */
int ep_keyfile_refuse(const struct ep_keyfile *file, const struct ep_keyfile_line *line,
		      struct ep_err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named_file.h: a module's file with what it tells: symbols, and, read when they are first asked
 * for, lines and inlined calls.
 */
#ifndef EPITAPH_NAMED_FILE_H
#define EPITAPH_NAMED_FILE_H

#include "decoder/symbols/inlines.h"
#include "decoder/symbols/lines.h"
#include "decoder/names/module_file.h"
#include "decoder/symbols/symbols.h"
#include "decoder/symbols/units.h"

struct ep_named_file {
	struct ep_module_file found;
	struct ep_symbols *symbols; /* NULL: none */
	struct ep_units *units;     /* these: NULL: none, or not asked for */
	struct ep_lines *lines;
	struct ep_inlines *inlines;
	char unread[320]; /* debug information that is there and is not, or not all, read: words
			     that follow "its debug information"; "" none */
	size_t nameless;  /* functions that were asked for and have no symbol */
	bool opened, lines_asked;
	bool raw; /* names of inlined functions as they are */
};

/* Closes what was opened; zeroed is allowed. */
void ep_named_file_deinit(struct ep_named_file *file);

/* Of a file that was opened. NULL: it has none. Borrowed until deinit. */
struct ep_lines *ep_named_file_lines(struct ep_named_file *file);
struct ep_inlines *ep_named_file_inlines(struct ep_named_file *file);

/* Where the function that begins at `start` (in the file) is defined. */
struct ep_line ep_named_file_beginning(struct ep_named_file *file, uint64_t start);

#endif

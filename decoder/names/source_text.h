/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source_text.h: a line of source with one before and one after it, from the file that the debug
 * information names. That name may be somebody else's word: only regular files are read, whose
 * names are those of sources, and nothing below a hidden folder.
 */
#ifndef EPITAPH_SOURCE_TEXT_H
#define EPITAPH_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EP_SOURCE_LINES 3u

struct ep_source_line {
	uint32_t number;
	char *text; /* valid UTF-8 without control characters, tabs as blanks up to columns of 8, at
		       most 300 bytes; owned */
};

struct ep_source_text {
	struct ep_source_line lines[EP_SOURCE_LINES]; /* ascending */
	size_t count;                                 /* 0: see `why` */
	bool newer;    /* the file was written after `built`: these may be other lines */
	char why[256]; /* "" ; the path in it is escaped */
};

/* `path` as the debug information has it, mapped; NULL: there is none. It is read where root or the
 * reader put it (ep_regular_file_open_owned), and below `folder`, which the reader named: no slash
 * at its end, NULL none. `built`: when the program's
 * file was written, in seconds since 1970; 0 unknown. */
void ep_source_text_find(struct ep_source_text *out, const char *path, const char *folder,
			 uint32_t line, int64_t built);
/* The same of a file that somebody opened; takes `fd`. */
void ep_source_text_read(struct ep_source_text *out, const char *path, int fd, uint32_t line,
			 int64_t built);
/* May a source file of that name be asked of servers? */
bool ep_source_text_is_name(const char *path);
/* From a copy of it that lies at `copy`. Where that has no such line *out is as it was; else it is
 * replaced. */
void ep_source_text_copy(struct ep_source_text *out, const char *path, const char *copy,
			 uint32_t line);
void ep_source_text_deinit(struct ep_source_text *text); /* zeroed is allowed */

#endif

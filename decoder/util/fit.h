/* SPDX-License-Identifier: BSD-2-Clause */
/* fit.h: text that fits a terminal's lines. Escape sequences have no columns, a character has those
 * that wcwidth(3) gives it: two of Chinese and of emoji, none of what combines. */
#ifndef EPITAPH_FIT_H
#define EPITAPH_FIT_H

#include <stddef.h>
#include <stdio.h>

/* Any number of columns: nothing is cut. */
#define EP_FIT_ALL 0u

size_t ep_fit_columns(const char *text);
/* Blanks that make `text` as wide as `columns`. For printf's %*s. */
int ep_fit_blanks(const char *text, size_t columns);
/* Of one well-formed character of `size` bytes. */
size_t ep_fit_character(const char *text, size_t size);
/* Bytes of what fits in the first `columns`, and of what takes none behind it. */
size_t ep_fit_bytes(const char *text, size_t columns);
/* The end of `text` that fits in `columns`. */
const char *ep_fit_tail(const char *text, size_t columns);

/* A copy of a name in at most `columns`, at least 3, its middle replaced by …: both ends tell names
 * apart. EP_FIT_ALL: as it is. The caller frees it. */
char *ep_fit_name(const char *name, size_t columns);

/*
 * Writes lines, each with its \n. One that is longer than `columns` goes on in the next, at a
 * space, `indent` to the right (less than half of `columns`); a word that is longer than a line is
 * cut in the middle. Returns how many lines that were.
 */
size_t ep_fit_lines(FILE *out, const char *text, size_t columns, size_t indent);

/* The same, but what does not fit is cut at a space, and … says so: a line stays one. */
size_t ep_fit_cut_lines(FILE *out, const char *text, size_t columns);

#endif

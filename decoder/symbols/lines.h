/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.h: address in a file → source file and line, from the line tables of DWARF 2-5, by libdw. A
 * unit's line table is read when the first address of it is asked for. Split DWARF answers from the
 * skeleton's line table; a unit that libdw cannot read answers nothing.
 */
#ifndef EPITAPH_LINES_H
#define EPITAPH_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ep_lines;
struct ep_units;

struct ep_line {
	const char *file; /* path as the debug info gives it, normalised, and then mapped; NULL */
	uint32_t line;    /* 0 unknown */
	const char *directory; /* in which it was compiled, likewise; NULL unknown */
};

/* `units` must outlive the lines. */
struct ep_lines *ep_lines_create(struct ep_units *units);
void ep_lines_destroy(struct ep_lines *lines); /* NULL is allowed */

/*
 * The line of `address` in the file: of the last row at or before it, as eu-addr2line does. The
 * file's name is absolute where the debug info says so, without . and .. and doubled slashes;
 * borrowed until destroy.
 */
struct ep_line ep_lines_find(struct ep_lines *lines, uint64_t address);

/* Where a function's name stands in its definition. */
struct ep_declared {
	const char *source; /* as in the file table; NULL: unknown */
	uint64_t line;      /* 0 unknown */
};

/*
 * The line on which the code of the function that begins at `address` does. Of several rows at this
 * address the first may be the end of the function before it, the last an inlined one's: it is the
 * nearest behind `declared`, else the first. NULL: the first.
 */
struct ep_line ep_lines_begin(struct ep_lines *lines, uint64_t address,
			      const struct ep_declared *declared);

/* Are there rows of several lines at exactly `address`? */
bool ep_lines_vary(struct ep_lines *lines, uint64_t address);

/* A name from the unit's file table, as a line's file has it; NULL for NULL. Borrowed until
 * destroy. */
const char *ep_lines_file(struct ep_lines *lines, size_t unit, const char *source);

#endif

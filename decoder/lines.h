/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.h: address in a file → source file and line, from the line tables of
 * DWARF 2-5, by libdw. The compilation units' address ranges are read once
 * (.debug_aranges is optional, and clang writes none); a unit's line table when
 * the first address of it is asked for. Split DWARF answers from the skeleton's
 * line table; a unit that libdw cannot read answers nothing.
 */
#ifndef EPITAPH_LINES_H
#define EPITAPH_LINES_H

#include <libelf.h>

#include "decoder/names.h"

struct ep_lines;

/* `elf` must outlive the lines. EP_END: no debug information. */
int ep_lines_create(struct ep_lines **out, Elf *elf, struct ep_err *err);
void ep_lines_destroy(struct ep_lines *lines); /* NULL is allowed */

/*
 * The line of `address` in the file. With `entry`, of the first row at exactly
 * this address: where a function's code begins, the line that its definition
 * begins on; else the last row at or before it, as eu-addr2line does. The
 * file's name is absolute where the debug info says so, without . and .. and
 * doubled slashes; borrowed until destroy.
 */
struct ep_line ep_lines_find(struct ep_lines *lines, uint64_t address,
			     bool entry);

/* Memory ran out once: some answers may be missing. */
bool ep_lines_starved(const struct ep_lines *lines);

#endif

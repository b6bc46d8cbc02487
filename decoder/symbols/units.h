/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * units.h: the compilation units of a file's DWARF 2-5, by libdw, and which of them an address may
 * lie in. Their address ranges are read once (.debug_aranges is optional, and clang writes none).
 */
#ifndef EPITAPH_UNITS_H
#define EPITAPH_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ep_units;

/* Where a look-up stands; zeroed, or by ep_units_walk. */
struct ep_units_walk {
	uint64_t address;
	size_t at; /* the ranges before it are not looked at yet */
	unsigned tries;
};

/* `elf` must outlive the units. .dwo files, and the file that dwz moved shared parts to, are found
 * as libdw does, from the path on that `elf` was opened by; what is no regular file is not opened
 * (coredump/files/elffile.c). NULL: no debug information. */
struct ep_units *ep_units_create(Elf *elf);
void ep_units_destroy(struct ep_units *units); /* NULL is allowed */

/* Whether the debug information of `elf`, which ep_units_create was asked for, is not all read,
 * and why: words that follow "its debug information …". `units` may be NULL. */
bool ep_units_unread(struct ep_units *units, Elf *elf, char *out, size_t size);
/* The name of the .dwo file that has the functions at `address` and cannot be read; NULL: there is
 * no such. Borrowed. */
const char *ep_units_split(struct ep_units *units, uint64_t address);

size_t ep_units_count(const struct ep_units *units);

/*
 * The folder in which the unit with that first entry was compiled; NULL: none, or its name is
 * longer than any path. Borrowed.
 */
const char *ep_unit_folder(Dwarf_Die *top);

/* Whether libdw may read the unit's table of files: it puts the folder in front of each of them,
 * however long that is. */
bool ep_unit_files_fit(Dwarf_Die *top);

/*
 * How many entries, or ranges of entries, all look-ups together may go through: proportional to the
 * bytes of entries and ranges, as lists may be shared by many entries, and entries may point
 * anywhere.
 */
uint64_t ep_units_step_limit(const struct ep_units *units);

/* The unit's first entry; of split DWARF the skeleton's. Borrowed. */
Dwarf_Die *ep_units_die(struct ep_units *units, size_t unit);

/* The entry that its functions lie below: the same, or of split DWARF that of the .dwo file, which
 * is opened now. NULL: there is none. Borrowed. */
Dwarf_Die *ep_units_code(struct ep_units *units, size_t unit);

/* The units with `address`, one at each call of _next; the likeliest first. */
struct ep_units_walk ep_units_walk(const struct ep_units *units, uint64_t address);
bool ep_units_next(const struct ep_units *units, struct ep_units_walk *walk, size_t *unit);

#endif

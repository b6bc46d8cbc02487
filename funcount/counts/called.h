/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * called.h: counts by function: each counted address with the function that it lies in, its names
 * and its place in the source. Functions that go in and out of a trace together, because the
 * compiler split or cloned one of the source, or because files have static functions of one name,
 * are one group: a list of names cannot tell them apart.
 */
#ifndef EPITAPH_CALLED_H
#define EPITAPH_CALLED_H

#include "decoder/names/names.h"
#include "funcount/counts/counts.h"

struct ep_called_function {
	const struct ep_counts_module *module;
	const struct ep_function *function; /* addresses are the file's */
	struct ep_line line;                /* where it begins; file NULL */
	uint64_t calls;
	uint32_t group; /* index in groups */
};

struct ep_called_group {
	char *name;     /* linker's name without .constprop.0 and the like; of unknown functions
			   module+0x1234 */
	bool known;     /* has a name that a list can hold */
	uint64_t calls; /* of all its functions */
	uint64_t size;  /* bytes of the largest of them; 0 unknown */
	size_t first, count; /* its functions, in `functions` */
};

struct ep_called {
	struct ep_called_function *functions; /* by group */
	size_t function_count;
	struct ep_called_group *groups; /* most calls first; equal: by name */
	size_t group_count;
	uint64_t calls;          /* of all */
	uint64_t unknown;        /* of functions without a name */
	struct ep_names **names; /* per module, own what is borrowed above */
	struct ep_trace_module *modules;
	size_t module_count;
};

/* `counts`, settled, and `options` (NULL: defaults) must outlive it. What has no name is
 * unknown. */
struct ep_called *ep_called_create(const struct ep_counts *counts,
				   const struct ep_names_options *options);
void ep_called_destroy(struct ep_called *called); /* NULL is allowed */

/* Bytes of the functions that make 99 % of the calls: of code that is in use. */
uint64_t ep_called_code(const struct ep_called *called);

/* Why modules could not be named, one after the other; NULL at the end. */
const char *ep_called_warning(const struct ep_called *called, size_t index);
/* As ep_names_incomplete: functions may be unknown that are not. */
bool ep_called_incomplete(const struct ep_called *called);

/* The length of a linker's name without what a compiler put behind its first dot: f.constprop.0,
 * f.isra.0, f.part.0, f.cold, f.lto_priv.0; as the lists of epitaph-cc match it. */
size_t ep_symbol_stem(const char *symbol);

#endif

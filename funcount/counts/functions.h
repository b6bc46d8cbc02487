/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * functions.h: counts by address → functions with names, sizes and places in the source. A function
 * is one of a module: two modules' of one name are two.
 */
#ifndef EPITAPH_FUNCTIONS_H
#define EPITAPH_FUNCTIONS_H

#include "decoder/names/names.h"
#include "funcount/counts/counts.h"

struct ep_counted {
	char *name;   /* demangled, unless the options say no; or, unknown, module+0x1234; owned */
	char *symbol; /* as the linker has it; "" unknown; owned */
	const struct ep_counts_module *module; /* borrowed from the counts */
	const char *module_name;               /* base name; "" outside */
	uint64_t address; /* of its first byte, in the module's file; of an unknown one the address
			     that was counted */
	uint64_t calls;
	uint64_t size;         /* bytes, 0 unknown */
	uint32_t instructions; /* 0 unknown */
	uint32_t loops;        /* when the instructions are known */
	char *file;            /* NULL unknown; owned */
	uint32_t line;
};

struct ep_functions {
	struct ep_counted *list; /* most calls first, then by name */
	size_t count, capacity;
	EP_ARRAY(char *) warnings; /* one line each */
	bool unnamed;              /* a module's file is missing or is another build's */
	bool codeless; /* there is no disassembler (disassembler.h): sizes in instructions are not
			  known */
};

/*
 * Of settled counts, which must outlive them. `options` as for names; NULL: defaults. What is not
 * known of a function is left out, and warned of once a module.
 */
void ep_functions_create(struct ep_functions *functions, const struct ep_counts *counts,
			 const struct ep_names_options *options);
void ep_functions_deinit(struct ep_functions *functions);

/* Is the file at `path` one of the modules that were counted, by its build-id? EP_E_MISMATCH: they
 * are of another build; other codes: it cannot be read. A file without a build-id passes. */
int ep_functions_check_file(const struct ep_counts *counts, const char *path, struct ep_err *err);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.h: (address, time) → function, file and line. Each function is looked
 * up once and interned: two pointers are equal when the functions are. Never
 * fails: what is unknown is named module+0x1234, or 0x7f… outside of all
 * modules. A module's own file is taken when its build-id matches, then the
 * build-id directories (--debug-path/.build-id/xx/yyyy.debug), then debuglink;
 * a file whose build-id differs is refused for naming unless forced, and that
 * is told once per module.
 */
#ifndef EPITAPH_NAMES_H
#define EPITAPH_NAMES_H

#include "decoder/debuginfod.h"
#include "decoder/trace.h"

struct ep_names;

struct ep_function {
	uint32_t id;        /* 0, 1, 2 … in order of first look-up */
	const char *name;   /* demangled as c++filt does; valid UTF-8 */
	const char *symbol; /* raw, as in the symbol table; "" unknown */
	const char *module; /* base name of the module's path; "" outside */
	const struct ep_trace_module *in; /* NULL outside of all modules */
	uint64_t start, end; /* process virtual; of the hot part; end exclusive;
				equal when the bounds are unknown */
	bool known;          /* false: name is module+0x1234 */
	bool exported_guess; /* from .dynsym or .eh_frame only: may be inexact
			      */
};

struct ep_line {
	const char *file; /* path as the debug info gives it, normalised, and
			     then mapped; NULL */
	uint32_t line;    /* 0 unknown */
};

struct ep_names_options {
	const char *const *debug_paths; /* directories, tried in order; may be
					   NULL; /usr/lib/debug comes last */
	size_t debug_path_count;
	const char *const *path_maps; /* OLD=NEW, valid (path_map.h): beginnings
					 of source files' paths; may be NULL */
	size_t path_map_count;
	const char *executable; /* use this file for the program; NULL */
	const char *sysroot;    /* in front of every module's path, and of
				   /usr/lib/debug; NULL */
	bool force;             /* use files whose build-id differs */
	bool no_demangle;
	bool debuginfod; /* ask the servers that DEBUGINFOD_URLS names */
	ep_debuginfod_progress_fn progress; /* of that; may be NULL */
};

/* `modules` (a trace's, or made from a source's mappings) must outlive the
 * names. NULL options: defaults. */
int ep_names_create(struct ep_names **out,
		    const struct ep_trace_module *modules, size_t count,
		    const struct ep_names_options *options, struct ep_err *err);
void ep_names_destroy(struct ep_names *names);

/*
 * The function that contains `address` at time `tsc` (0: latest). Cold parts
 * (.cold), and parts split by the compiler, answer their function. Never NULL.
 * Borrowed until destroy.
 */
const struct ep_function *ep_names_find(struct ep_names *names,
					uint64_t address, uint64_t tsc);

/* Where the function begins in the source, and the line of any address. */
struct ep_line ep_names_function_line(struct ep_names *names,
				      const struct ep_function *function);
struct ep_line ep_names_address_line(struct ep_names *names, uint64_t address,
				     uint64_t tsc);

/* "libfoo.so: build-id of /usr/lib/libfoo.so differs (…)": one per module that
 * could not be named properly, NULL at the end. */
const char *ep_names_warning(const struct ep_names *names, size_t index);

/* Memory ran out once, or too much is unknown: a warning says so, and names or
 * lines may be missing. */
bool ep_names_starved(const struct ep_names *names);

/* The demangled form in a buffer that the caller frees, or NULL: not mangled.
 */
char *ep_demangle(const char *symbol);

#endif

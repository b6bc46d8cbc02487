/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.h: (address, time) → function, file and line. Each function is looked up once and interned:
 * two pointers are equal when the functions are. Never fails: what is unknown is named
 * module+0x1234, or 0x7f… outside of all modules. A module's own file is taken when its build-id
 * matches, then the build-id directories (--debug-path/.build-id/xx/yyyy.debug), then debuglink; a
 * file whose build-id differs is refused for naming unless forced, and that is told once per
 * module.
 */
#ifndef EPITAPH_NAMES_H
#define EPITAPH_NAMES_H

#include "coredump/memory/source.h"
#include "decoder/names/names_options.h"
#include "decoder/symbols/inlines.h"
#include "decoder/trace/trace.h"

struct ep_names;

struct ep_function {
	uint32_t id;                      /* 0, 1, 2 … in order of first look-up */
	const char *name;                 /* demangled as c++filt does; valid UTF-8 */
	const char *symbol;               /* raw, as in the symbol table; "" unknown */
	const char *module;               /* base name of the module's path; "" outside */
	const struct ep_trace_module *in; /* NULL outside of all modules */
	uint64_t start, end; /* process virtual; of the hot part; end exclusive; equal when the
				bounds are unknown */
	bool known;          /* false: name is module+0x1234 */
	bool span;           /* no function, but spans of that name */
	bool exported_guess; /* from .dynsym or .eh_frame only: may be inexact */
};

/* `modules` (a trace's, or made from a source's mappings) must outlive the names. NULL options:
 * defaults. */
struct ep_names *ep_names_create(const struct ep_trace_module *modules, size_t count,
				 const struct ep_names_options *options);
void ep_names_destroy(struct ep_names *names);

/*
 * The function that contains `address` at time `tsc` (0: latest). Cold parts (.cold), and parts
 * split by the compiler, answer their function. Never NULL. Borrowed until destroy.
 */
const struct ep_function *ep_names_find(struct ep_names *names, uint64_t address, uint64_t tsc);

/*
 * Each range of code, process virtual, that a symbol names, of all modules that are loaded: a
 * function may have several, its cold part among them.
 */
typedef void ep_names_range_fn(void *context, const struct ep_function *function, uint64_t start,
			       uint64_t end);
void ep_names_each_range(struct ep_names *names, ep_names_range_fn *fn, void *context);

/* Where the function begins in the source, and the line of any address. */
struct ep_line ep_names_function_line(struct ep_names *names, const struct ep_function *function);
struct ep_line ep_names_address_line(struct ep_names *names, uint64_t address, uint64_t tsc);

/*
 * The calls inlined at `address`, innermost first; of more than EP_INLINED_MAX the innermost.
 * Returns how many. `address` itself lies in the first of them; the function that ep_names_find
 * answers made the last call. Borrowed until destroy.
 */
size_t ep_names_inlined(struct ep_names *names, uint64_t address, uint64_t tsc,
			struct ep_inlined out[EP_INLINED_MAX]);

/* The debug information of the module with an address. */
struct ep_names_debug {
	struct ep_inlines *inlines; /* borrowed until destroy */
	uint64_t bias;              /* process virtual - address in the file */
	int64_t written;     /* when the module's own file was, in seconds since 1970; 0 unknown */
	const char *sysroot; /* below which files lie, too; borrowed; NULL none */
};

/* False: there is none. */
bool ep_names_debug(struct ep_names *names, uint64_t address, struct ep_names_debug *out);

/* The folder below which a path map puts `file`: the reader named it. Borrowed until destroy; NULL:
 * none. */
const char *ep_names_mapped_folder(const struct ep_names *names, const char *file);

/* Why debug information that the module with an address has is not, or not all, read: words that
 * follow "its debug information"; "" where there is none such. Borrowed until destroy. */
const char *ep_names_undebugged(struct ep_names *names, uint64_t address);

/*
 * Where the text of a source file of the module at `address` lies, when debuginfod servers were
 * named and have it: they are asked now. `file`: absolute, as the debug information has it. *why:
 * words, static, of what keeps them from being asked; else "". False: nobody has it.
 */
bool ep_names_source(struct ep_names *names, uint64_t address, const char *file, char out[PATH_MAX],
		     const char **why);

/* `size` bytes of code at `address`, from the module's file: how many it has. */
size_t ep_names_code(struct ep_names *names, uint64_t address, void *out, size_t size);

/* The same of what the program could not write to: as it was in the process. */
size_t ep_names_constant(struct ep_names *names, uint64_t address, void *out, size_t size);

/* The eight bytes at `address` of saved memory, such as a slot of the global offset table. False:
 * they are not known. */
bool ep_names_word(const struct ep_names *names, uint64_t address, uint64_t *out);

/*
 * The text that lies in the process at `address`, such as a note's format: from the module's file,
 * where the program could not write to it, else from saved memory. At most 4095 bytes of it, any
 * bytes. NULL: unknown. Borrowed until destroy.
 */
const char *ep_names_constant_string(struct ep_names *names, uint64_t address, uint64_t tsc);

/* What stands for spans of that name (epitaph_mark_begin) where functions are counted: its `span`
 * is true, its module "". Never NULL. */
const struct ep_function *ep_names_span(struct ep_names *names, const char *name);

/* "libfoo.so: build-id of /usr/lib/libfoo.so differs (…)": one per module that could not be named
 * properly, NULL at the end. */
const char *ep_names_warning(const struct ep_names *names, size_t index);
/* What it is about, for programs: "other-build-id", "no-file" (of any kind, or it could not be
 * read), else "names". Static. */
const char *ep_names_warning_code(const struct ep_names *names, size_t index);

/* The modules whose file is stripped (it has no .symtab, and no debug file is at hand) and of which
 * functions were asked for that have no name: *count of them. NULL: no more. */
const struct ep_trace_module *ep_names_stripped(const struct ep_names *names, size_t index,
						size_t *count);

/* Too much is unknown, or was too large to be read: a warning says so, and names or lines may be
 * missing. */
bool ep_names_incomplete(const struct ep_names *names);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module_file.h: the ELF file of a module of the process, and its separate debug file. A file is
 * taken only when it is the one that ran: by build-id, or by the debug link's CRC. What was
 * refused, and why, is told in one line.
 */
#ifndef EPITAPH_MODULE_FILE_H
#define EPITAPH_MODULE_FILE_H

#include <libelf.h>

#include "decoder/names/names_options.h"
#include "decoder/trace/trace.h"

struct ep_module_file {
	Elf *elf;                /* the module's own file; NULL: none */
	Elf *debug;              /* its separate debug file; NULL: none */
	int fd, debug_fd;        /* -1 none */
	char *path, *debug_path; /* NULL none */
	void *memory;            /* behind `elf` when it is not a file */
	Elf *unpacked;           /* the one with debug information, where it is compressed … */
	void *unpacked_memory;   /* … as it is not read (symbols/unpack.h) */
	const char *unread; /* why there is debug information that is not read, static; NULL: there
			       is none such, or ep_module_file_lines was not asked */
	char warning[1024]; /* "" when all is well */
	bool other_build;   /* it says that a file was of another build */
	const char *unanswered; /* why debuginfod servers are asked no more, where this file was the
				   first to learn it; NULL. The warning has it, too */
};

/*
 * Looks for the module's file in this order: options->executable (for the program), its path (below
 * options->sysroot), DIR/.build-id/xx/yyyy and DIR + path of each debug path; then for its debug
 * file, when the own file has no .symtab or no .debug_info: DIR/.build-id/xx/yyyy.debug, DIR + path
 * + .debug, .gnu_debuglink (beside the file, in .debug/ there, in DIR + folder). DIR:
 * options->debug_paths, then /usr/lib/debug. Either is asked of debuginfod servers last, when
 * options->debuginfod. `options` NULL: defaults. Never fails: what is missing stays NULL and
 * `warning` says so. Reads regular files only.
 */
void ep_module_file_open(struct ep_module_file *file, const struct ep_trace_module *module,
			 const struct ep_names_options *options);
void ep_module_file_close(struct ep_module_file *file); /* zeroed is allowed */

/* `size` bytes of the program at `address` (in the file), as it was linked: how many of them the
 * file has. Not what the process wrote over them. */
size_t ep_module_file_read(const struct ep_module_file *file, uint64_t address, void *out,
			   size_t size);

/* The file that holds .debug_line: `elf`, `debug`, either of them unpacked, or NULL. Borrowed. */
Elf *ep_module_file_lines(struct ep_module_file *file);

/* Base name of a path; a path that ends in a slash answers itself. Borrowed. */
const char *ep_path_base(const char *path);

#endif

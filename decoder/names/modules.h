/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * modules.h: the modules of a process as its memory shows them, for stacks and names where no trace
 * tells: from the file mappings and the ELF headers that lie in them.
 */
#ifndef EPITAPH_MODULES_H
#define EPITAPH_MODULES_H

#include <libelf.h>

#include "coredump/memory/source.h"
#include "decoder/trace/trace.h"

/* No process has as many objects; libdwfl takes time by the square of them. The highest are
 * kept. */
#define EP_MODULES_MAX 8192u

/*
 * Modules by ascending start, *count of them, which the caller frees. Their paths are borrowed from
 * the source. load_tsc and unload_tsc are 0. A module whose header was not saved has
 * EP_MODULE_NO_HEADER, no build-id, and a bias that is a guess.
 *
 * The kernel leaves the list of mapped files away when it would be larger than
 * kernel.core_file_note_size_limit (4 MiB: at 65,536 mappings). Then they are those of the trace
 * (may be NULL), from which their paths are borrowed; likewise the path of one whose code, with its
 * header, a program has put elsewhere.
 */
struct ep_trace_module *ep_modules_from_source(size_t *count, struct ep_source *source,
					       const struct ep_trace *trace);

/*
 * The module's file as its memory shows it, when all that it must have to be unwound was saved (the
 * vdso always is). *memory: caller frees, after the Elf's end. NULL: not all there.
 */
Elf *ep_module_image(const struct ep_trace_module *module, struct ep_source *source, void **memory);

#endif

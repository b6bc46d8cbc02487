/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_check.h: is a file the one that was mapped? A build-id alone does not say: programs are
 * linked without, or with one that somebody chose, and files are rebuilt in place. What the
 * process's memory holds of the object is held against the file: ELF header, program headers, the
 * first page, which every default core has, and code, which a running process has and a core
 * sometimes.
 */
#ifndef EPITAPH_FILE_CHECK_H
#define EPITAPH_FILE_CHECK_H

#include <libelf.h>

#include "coredump/memory/source.h"
#include "decoder/trace/trace.h"

enum ep_file_check {
	EP_FILE_UNCHECKED, /* nothing of the object can be seen */
	EP_FILE_ALIKE,     /* what can be seen is the same, and that is not all of it */
	EP_FILE_SAME,      /* all that the program could not write to is the same */
	EP_FILE_OTHER,     /* it is another file */
};

/*
 * Compares the module in `memory` (NULL: none) with the file: at most about `most` bytes of it,
 * besides its first page; more are looked at in places. What a stripped copy, a prelinked one's
 * section headers, a debugger's breakpoints and switched hooks change is no difference. *what, of
 * EP_FILE_OTHER: in words, static.
 */
enum ep_file_check ep_file_check(Elf *elf, const struct ep_trace_module *module,
				 struct ep_source *memory, uint64_t most, const char **what);

/*
 * Do the calls of the trace (NULL: none) fit the file's code? Each was told from behind a call of a
 * hook, from a sled, or by where its function begins. How many of *asked, of the newest and
 * different ones, 256 at most, stand where there is none of that.
 */
size_t ep_file_check_calls(Elf *elf, const struct ep_trace_module *module,
			   const struct ep_trace *trace, size_t *asked);

/* Is the debug file that of the file (NULL: of the module, as memory shows it)? By the places of
 * the sections, or segments, that both know. False only when they differ. */
bool ep_file_check_debug(Elf *debug, Elf *own, const struct ep_trace_module *module,
			 struct ep_source *memory);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind_modules.h: a process's modules and their files, as libdwfl asks for them: a file is given
 * only when its build-id is the process's. */
#ifndef EPITAPH_UNWIND_MODULES_H
#define EPITAPH_UNWIND_MODULES_H

#include <elfutils/libdwfl.h>

#include "decoder/names/module_file.h"
#include "decoder/stack/unwind_code.h"

struct ep_unwind_module {
	struct ep_unwind_modules *all;
	const struct ep_trace_module *facts;
	struct ep_module_file file;
	void *memory; /* behind its image, when there is one */
	struct ep_unwind_hook hook;
	bool asked;    /* for its file */
	bool has_file; /* or an image */
};

struct ep_unwind_modules {
	struct ep_source *source;
	const struct ep_names_options *options;
	struct ep_trace_module *facts; /* owned */
	struct ep_unwind_module *list; /* beside the facts; owned */
	size_t count;
	Dwfl *dwfl; /* owned */
};

/* As ep_unwinder_create. EP_E_CORRUPT: libdwfl refuses them; to be freed all the same. */
int ep_unwind_modules_init(struct ep_unwind_modules *modules, struct ep_source *source,
			   const struct ep_trace *trace, const struct ep_names_options *options,
			   struct ep_err *err);
void ep_unwind_modules_deinit(struct ep_unwind_modules *modules);

/* NULL: there is none. */
const struct ep_unwind_module *ep_unwind_module_at(const struct ep_unwind_modules *modules,
						   uint64_t address);
/* The same, with its file, where that is to be had; NULL else. */
const struct ep_unwind_module *ep_unwind_module_opened(const struct ep_unwind_modules *modules,
						       uint64_t address);

/* Does unwind information say where the caller of this code is? If not, libdwfl follows %rbp. */
bool ep_unwind_modules_know(const struct ep_unwind_modules *modules, uint64_t address);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks.h: does a function's code call the tracing hooks, and where does a pc in it stand to them?
 * Known by disassembling the function: a direct call, one through the procedure linkage table, or
 * one through the global offset table; or a sled that clang's -fxray-instrument left for one.
 */
#ifndef EPITAPH_HOOKS_H
#define EPITAPH_HOOKS_H

#include "coredump/memory/source.h"
#include "decoder/names/names.h"

enum ep_hooks {
	EP_HOOKS_UNKNOWN,  /* its bounds or its code are not known, or there is no disassembler
			      (disassembler.h) */
	EP_HOOKS_NONE,     /* it calls none */
	EP_HOOKS_SOME,     /* it does */
	EP_HOOKS_ENTERING, /* it does, and before it came to that it was at pc */
	EP_HOOKS_LEAVING,  /* it told its return before it came to pc */
};

/* `names` are those that found the function; `source` is where addresses in data are read; `pc`
 * lies in the instruction in question. A function that is longer than 64 KiB is looked at that
 * far. */
enum ep_hooks ep_hooks_look(struct ep_source *source, struct ep_names *names,
			    const struct ep_function *function, uint64_t pc);

/* One of the hooks itself, by its name. */
bool ep_is_hook(const struct ep_function *function);
/* … or what it leaves to C by (runtime/x86_64/hooks.S). */
bool ep_is_in_hook(const struct ep_function *function);
/* That of the entry, or of the return; or what these leave to C by. */
bool ep_is_entry_hook(const struct ep_function *function);
bool ep_is_exit_hook(const struct ep_function *function);
/* What a hook that leaves its record to C calls. */
bool ep_is_hook_in_c(const struct ep_function *function);

/* Whether a hook that goes on at `pc`, of which nothing was executed yet, has its record still to
 * write, by itself or in C. Not of hooks that are not the runtime's own, nor without a
 * disassembler. */
bool ep_hook_is_to_record(struct ep_source *source, struct ep_names *names,
			  const struct ep_function *hook, uint64_t pc);

#endif

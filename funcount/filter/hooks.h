/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks.h: how compilers call the hooks on x86-64, in AT&T and in Intel syntax:
 *
 *     call __fentry__                       direct; callq, @PLT
 *     call *__fentry__@GOTPCREL(%rip)       through the GOT (-fPIE, -fno-plt)
 *     call [QWORD PTR x@GOTPCREL[rip]]      the same in Intel syntax
 *     jmp __cyg_profile_func_exit@PLT       as the function's last act
 *     movabsq $__fentry__, %r10             -mcmodel=large, then call *%r10
 */
#ifndef EPITAPH_FILTER_HOOKS_H
#define EPITAPH_FILTER_HOOKS_H

#include "funcount/filter/statement.h"

enum ep_hook_form {
	EP_HOOK_NONE,  /* names no hook */
	EP_HOOK_CALL,  /* without it the function goes on */
	EP_HOOK_JUMP,  /* without it the function returns */
	EP_HOOK_LOAD,  /* its address goes to a register */
	EP_HOOK_OTHER, /* names a hook in a way that is not understood */
};

struct ep_hook {
	enum ep_hook_form form;
	bool arguments;        /* takes two: __cyg_profile_func_… */
	struct ep_piece where; /* LOAD: the register, without '%' */
};

/* What the statement does with a hook. */
struct ep_hook ep_hook_read(const struct ep_statement *statement);

/* `name` is one of the hooks. */
bool ep_hook_named(struct ep_piece name);

/* `line` may name a hook: cheap, to be looked at first. */
bool ep_hook_mentioned(struct ep_piece line);

#endif

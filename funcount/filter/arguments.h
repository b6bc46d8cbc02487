/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arguments.h: what stands before a call of __cyg_profile_func_… only to give it its arguments. By
 * the psABI a call leaves nothing in rax, rcx, rdx, rsi, rdi and r8 to r11, so that an instruction
 * that does nothing but fill one of them, unread up to the call, is dead once the call is gone. It
 * is taken only when it reads a register, a constant or the function's own frame: reading anything
 * else might be what the program is about (volatile).
 */
#ifndef EPITAPH_FILTER_ARGUMENTS_H
#define EPITAPH_FILTER_ARGUMENTS_H

#include "funcount/filter/assembly.h"

/* Lines above `line`, a call of a hook in AT&T syntax, that are dead without it: up to `most` into
 * `lines`, descending. Returns how many. */
uint32_t ep_arguments_find(const struct ep_assembly *assembly, uint32_t line, uint32_t *lines,
			   uint32_t most);

#endif

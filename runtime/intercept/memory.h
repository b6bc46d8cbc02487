/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h: what the program asks of the kernel for its memory, by syscall(2). */
#ifndef EPITAPH_INTERCEPT_MEMORY_H
#define EPITAPH_INTERCEPT_MEMORY_H

#include <stdint.h>

#include "runtime/lib/interpose.h"

/* `number` is about to be called with these arguments. What to call in place of syscall(2), with
 * the arguments of that; NULL: that. */
ep_any_fn ep_memory_before_syscall(uint64_t number, uint64_t a, uint64_t b, uint64_t c);

#endif

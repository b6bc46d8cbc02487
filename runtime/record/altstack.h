/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * altstack.h: a stack for handlers of fatal signals, for each thread that has none of its own: one
 * whose stack has overflown has no room for them. The program does not hear of it.
 */
#ifndef EPITAPH_ALTSTACK_H
#define EPITAPH_ALTSTACK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* For the calling thread, unless it has one; and its end. Signal safe. */
void ep_altstack_start(void);
void ep_altstack_end(void);

/* It is one of those, and not the program's. Signal safe. */
bool ep_altstack_is_own(const stack_t *stack);

/* What the kernel would have in a signal frame in place of such a one; and back again, where there
 * is one of ours at that address. Signal safe. */
void ep_altstack_hide(stack_t *stack);
void ep_altstack_show(stack_t *stack, uint64_t address);

#endif

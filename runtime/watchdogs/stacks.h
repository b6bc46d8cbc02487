/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.h: the stacks of all threads, as they are at a miss, into the arena: registers and the top
 * of the stack, to be unwound when the trace is read. No unwinder runs in the traced program: none
 * is safe in a signal handler at any instruction, and copying needs nothing.
 */
#ifndef EPITAPH_STACKS_H
#define EPITAPH_STACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* For an arena that is new. */
void ep_stacks_begin(void);

/*
 * Asks each thread of the process but the caller and `except` for its stack, by ask(tid, entry's
 * number), and waits until they have answered: 100 ms at the most. By one thread at a time, which
 * has signals blocked.
 */
void ep_stacks_take(uint64_t watchdog, uint32_t except, void (*ask)(uint32_t tid, uint32_t entry));

/* The calling thread's answer, from its signal handler. */
void ep_stacks_answer(uint32_t entry, const ucontext_t *context);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* clone.h: see clone.S. */
#ifndef EPITAPH_X86_64_CLONE_H
#define EPITAPH_X86_64_CLONE_H

#include <stdint.h>

/*
 * Begins a thread or a process, by clone(2)'s `flags`, that calls run() on the stack that ends at
 * `stack_end`, with the caller's signal mask. run() must not return, but end by the system call
 * exit. With CLONE_CHILD_CLEARTID the kernel empties *clear when it is gone, and wakes who waits
 * for that; with CLONE_PARENT_SETTID it writes the tid to *set before run() is called. Its tid or a
 * negative errno.
 */
long ep_clone(unsigned long flags, void *stack_end, uint32_t *clear, void (*run)(void),
	      uint32_t *set);

#endif

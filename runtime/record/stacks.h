/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.h: is the stack that a hook runs on its thread's own? Where the stack pointer lies outside
 * of it, the thread goes on upon stacks of its own making (fibers by assembly, which leave no
 * mark), or in a signal handler; or another task runs there, one that shares the memory of the
 * thread, its thread-local memory too (clone(2) with CLONE_VM and without CLONE_SETTLS): what that
 * calls is not recorded.
 *
 * Timed records compare (x86_64/hooks.S); so the untimed ones before the first of them that a task
 * of the latter kind makes are in the thread's history. From then on each record is timed until the
 * task is gone.
 */
#ifndef EPITAPH_STACKS_H
#define EPITAPH_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/tls.h"

/* How many vforks are under way: their children write for their parents. */
extern uint32_t ep_stack_vforks;

/* The caller's entry gets to know its stack: a first guess, widened as the stack grows. */
void ep_stack_begin(struct ep_thread *thread);

/* The caller goes on upon another stack, and a mark says so: nothing is to be found out. */
void ep_stack_is_marked(struct ep_tls *tls);

/* The caller makes a task whose stack begins at `sp`: on the caller's own, nothing but its number
 * tells it from the caller, if it shares its memory. */
void ep_stack_expect(struct ep_tls *tls, uint64_t sp);

/* A forked child: nobody shares its memory. */
void ep_stacks_reset(void);

bool ep_stack_is_owned_slow(struct ep_tls *tls, uint64_t sp, bool look);

static inline bool ep_stack_is_outside(const struct ep_tls *tls, uint64_t sp)
{
	return sp < tls->thread->stack_low || sp > tls->thread->stack_high;
}

/* May the caller, which runs at `sp`, write for the thread? `look`: it has come to a block's end.
 */
static inline bool ep_stack_is_owned(struct ep_tls *tls, uint64_t sp, bool look)
{
	return (!look && !ep_stack_is_outside(tls, sp)) || ep_stack_is_owned_slow(tls, sp, look);
}

/* The same of whoever does something else than to call: only where it is known that a task shares a
 * thread's memory. */
bool ep_stack_is_shared_by_caller(const struct ep_tls *tls);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_function.h: in which of the C library's waiting functions a thread is: by the names on its
 * stack, and where that function went on by a jump and so has no frame, by what its caller called.
 */
#ifndef EPITAPH_LOCK_FUNCTION_H
#define EPITAPH_LOCK_FUNCTION_H

#include "decoder/report/evidence.h"

enum ep_lock_function {
	EP_IN_OTHER,   /* none of these */
	EP_IN_UNNAMED, /* the innermost function has no name, and it is not known what was called */
	EP_IN_MUTEX_LOCK,
	EP_IN_READ_LOCK,
	EP_IN_WRITE_LOCK,
	EP_IN_CONDITION_WAIT,
	EP_IN_SEMAPHORE_WAIT,
	EP_IN_BARRIER_WAIT,
	EP_IN_SPIN_LOCK,
	EP_IN_JOIN,
};

/* *frame: the last of the frames, from the innermost on, that are the library's; valid unless other
 * or unnamed. */
enum ep_lock_function ep_lock_function_find(const struct ep_evidence *evidence,
					    const struct ep_stack *stack, size_t *frame);

#endif

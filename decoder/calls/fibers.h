/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fibers.h: the stacks of open calls that one thread goes on with in turn (swapcontext), and the
 * places saved in them (setjmp, getcontext). A thread that does nothing of the kind has one fiber.
 */
#ifndef EPITAPH_FIBERS_H
#define EPITAPH_FIBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coredump/util/array.h"
#include "coredump/util/hash.h"

struct ep_fiber {
	uint32_t number; /* 0 is the thread's own stack */
	/* open calls, outermost first: numbers of identities */
	uint32_t *stack;
	size_t height, capacity;
	size_t floor; /* calls below it were open when history was missing */
	bool whole;   /* its history begins with its first event */
	/* callers from before its history, by their returns; those left */
	uint64_t outer_all, outer_left;
	/* made by makecontext: the identity of what runs in it, and the buffer to go on with when
	 * that returns (0: the thread ends) */
	uint32_t function; /* UINT32_MAX unknown */
	uint64_t link;
	bool over; /* it has returned */
};

#define EP_FIBER_NONE UINT32_MAX

/* What a buffer holds. */
struct ep_saved_context {
	uint64_t buffer;
	uint32_t fiber; /* EP_FIBER_NONE: a new one is to be made */
	size_t height;  /* of its stack */
	uint32_t function;
	uint64_t link;
};

struct ep_fibers {
	EP_ARRAY(struct ep_fiber *) all; /* they stay where they are */
	uint32_t met;                    /* of them, in this pass */
	EP_ARRAY(struct ep_saved_context) saved;
	struct ep_hash by_buffer; /* of saved */
};

void ep_fibers_deinit(struct ep_fibers *fibers);

/* Another pass begins: nothing is open, nothing saved. outer_all stays. */
void ep_fibers_rewind(struct ep_fibers *fibers);

/* The next fiber of this pass. */
struct ep_fiber *ep_fibers_add(struct ep_fibers *fibers);

static inline void ep_fiber_push(struct ep_fiber *fiber, uint32_t identity)
{
	if (fiber->height == fiber->capacity)
		fiber->stack = ep_array_grown(fiber->stack, &fiber->capacity, fiber->height + 1,
					      sizeof(*fiber->stack));
	fiber->stack[fiber->height++] = identity;
}

/* Keeps *context under its buffer, in place of what that held. */
void ep_fibers_save(struct ep_fibers *fibers, const struct ep_saved_context *context);

/* What the buffer holds, borrowed until the next save; NULL: unknown. */
const struct ep_saved_context *ep_fibers_find(const struct ep_fibers *fibers, uint64_t buffer);

#endif

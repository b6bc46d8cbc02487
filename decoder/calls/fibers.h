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

/* An open call of a function that was switched off while it was open, or just as it began. */
struct ep_fiber_switched {
	size_t index;    /* in the stack */
	uint64_t cut_at; /* TSC: a record that may be later is none of its callees' for certain */
	uint64_t own_until; /* TSC: its return may still have been recorded until then */
	uint64_t begin;     /* TSC: of the interval; 0 untold */
};

/* A place that was saved before `serial` is no higher than this. */
struct ep_fiber_lowered {
	uint64_t serial;
	size_t height;
};

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
	bool over;                                   /* it has returned */
	EP_ARRAY(struct ep_fiber_switched) switched; /* ascending index */
	EP_ARRAY(struct ep_fiber_lowered) lowered;   /* ascending in both */
};

#define EP_FIBER_NONE UINT32_MAX

/* What a buffer holds. */
struct ep_saved_context {
	uint64_t buffer;
	uint32_t fiber; /* EP_FIBER_NONE: a new one is to be made */
	size_t height;  /* of its stack */
	uint32_t function;
	uint64_t link;
	uint64_t serial; /* of the next call that is ended as switched off */
};

struct ep_fibers {
	EP_ARRAY(struct ep_fiber *) all; /* they stay where they are */
	uint32_t met;                    /* of them, in this pass */
	EP_ARRAY(struct ep_saved_context) saved;
	struct ep_hash by_buffer; /* of saved */
	uint64_t serial;          /* calls that ended as switched off */
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

/* The call on top is no more, though nobody returned from it: places that were saved in it are its
 * caller's. */
void ep_fiber_lower(struct ep_fibers *fibers, struct ep_fiber *fiber);

/* Where a place saved on it lies now. */
size_t ep_fiber_height(const struct ep_fiber *fiber, const struct ep_saved_context *place);

/* Keeps *context under its buffer, in place of what that held. */
void ep_fibers_save(struct ep_fibers *fibers, const struct ep_saved_context *context);

/* What the buffer holds, borrowed until the next save; NULL: unknown. */
const struct ep_saved_context *ep_fibers_find(const struct ep_fibers *fibers, uint64_t buffer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * delivery.h: a signal came to a handler of ours on an alternate stack, and the
 * program's own handler is to get it as if nobody had been in between: on the
 * stack that its action names, in a signal frame of the kernel's.
 */
#ifndef EPITAPH_DELIVERY_H
#define EPITAPH_DELIVERY_H

#include <assert.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/x86_64/sigframe.h"

/* What the kernel puts on the stack before it calls a handler. */
struct ep_signal_frame {
	uint64_t restorer; /* the handler's return address */
	uint8_t context[EP_FRAME_INFO - EP_FRAME_CONTEXT];
	uint8_t info[128];
};
static_assert(offsetof(struct ep_signal_frame, context) == EP_FRAME_CONTEXT &&
		      offsetof(struct ep_signal_frame, info) == EP_FRAME_INFO,
	      "sigframe.h");

/*
 * The frame for a handler with the flag SA_ONSTACK (`alternate`) or without:
 * that of `context`, or a copy of it on the stack that was interrupted. NULL:
 * there is no room for one. Where the thread's alternate stack is ours, the
 * context says that there is none. Signal safe.
 */
struct ep_signal_frame *ep_delivery_frame(const ucontext_t *context,
					  bool alternate);

/* The handler has returned, to a restorer: the context is what it was, so that
 * the kernel leaves the thread that stack. Signal safe. */
void ep_delivery_end(ucontext_t *context);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * delivery.h: a signal came to a handler of ours on an alternate stack, and the program's own
 * handler is to get it as if nobody had been in between: on the stack that its action names, in a
 * signal frame of the kernel's.
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
struct ep_handler_frame {
	uint64_t restorer; /* the handler's return address */
	uint8_t context[EP_FRAME_INFO - EP_FRAME_CONTEXT];
	uint8_t info[128];
};
static_assert(offsetof(struct ep_handler_frame, context) == EP_FRAME_CONTEXT &&
		      offsetof(struct ep_handler_frame, info) == EP_FRAME_INFO,
	      "sigframe.h");

/*
 * Where the frame for a handler with the flag SA_ONSTACK (`alternate`), or without, is to be
 * another than that of `context`: *frame, a copy of it on the stack that was interrupted; else that
 * is left as it is. False: there is no room for one. Signal safe.
 */
bool ep_delivery_frame(const ucontext_t *context, bool alternate, struct ep_handler_frame **frame);

/* The handler is about to get this context: it says what it would without our alternate stack.
 * Signal safe. */
void ep_delivery_begin(ucontext_t *context);

/* The handler has returned, to a restorer: the context is what it was, so that the kernel leaves
 * the thread that stack. Signal safe. */
void ep_delivery_end(ucontext_t *context);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind.h: the stacks of a core's threads by libdwfl, through signal frames,
 * from a full core or a snapshot. Says why it stopped.
 */
#ifndef EPITAPH_UNWIND_H
#define EPITAPH_UNWIND_H

#include "coredump/source.h"
#include "decoder/names.h"

struct ep_frame {
	uint64_t pc;     /* process virtual */
	uint64_t sp;     /* 0 unknown */
	bool activation; /* pc is exact (innermost, or below a signal frame);
			    else it is a return address: look up pc - 1 */
	bool guessed;    /* found by the frame pointer alone, where the frame
			    before it has no unwind information: may be wrong */
};

struct ep_stack {
	struct ep_frame *frames; /* innermost first; owned */
	size_t count;
	bool complete; /* the unwinder reached the thread's start */
	char why[256]; /* when not complete: the reason; "" */
};

struct ep_unwinder;

/* Only cores and snapshots: a live process is not stopped. Borrows `source`. */
int ep_unwinder_create(struct ep_unwinder **out, struct ep_source *source,
		       const struct ep_names_options *options,
		       struct ep_err *err);
void ep_unwinder_destroy(struct ep_unwinder *unwinder);

/* At most `limit` frames. EP_OK also with a partial stack; EP_END: no such
 * thread in the core. */
int ep_unwind(struct ep_unwinder *unwinder, uint32_t tid, size_t limit,
	      struct ep_stack *out, struct ep_err *err);
void ep_stack_deinit(struct ep_stack *stack);

#endif

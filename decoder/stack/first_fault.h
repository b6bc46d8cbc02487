/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * first_fault.h: what a process died of in truth. A handler of the program's own for a deadly
 * signal seldom saves it: it says something and raises the signal again, aborts, or faults itself,
 * and that is what the core says. What came first lies in the signal frame on the stack, also where
 * the handler has returned already and the frame is below the stack pointer.
 */
#ifndef EPITAPH_FIRST_FAULT_H
#define EPITAPH_FIRST_FAULT_H

#include "decoder/stack/signal_frame.h"
#include "decoder/stack/unwind.h"

struct ep_first_fault {
	bool found; /* else the core's death is the first */
	struct ep_signal_frame signal;
	struct ep_source_thread thread; /* with the registers of the fault */
	size_t frame; /* of that thread's stack, where the fault's begin; 0: the handler has
			 returned */
};

/* `unwinder`, `names` and `others` may be NULL. */
void ep_first_fault_find(struct ep_first_fault *out, struct ep_source *source,
			 struct ep_unwinder *unwinder, struct ep_names *names,
			 struct ep_names *others);

#endif

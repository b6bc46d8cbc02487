/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.h: the callers of a place, by the unwind tables as the unwinder reads them, but
 * remembered: a look at a frame takes some ns where the unwinder takes 250. Only of the plain kind
 * of frame, which nearly all are: its CFA lies a fixed way from rsp or rbp, the return address
 * below it, and of the other registers only rbp matters for that. Where there is one of another
 * kind, or code that may change (it belongs to no loaded object), the answer is "not so", and the
 * unwinder is asked.
 */
#ifndef EPITAPH_FRAMES_H
#define EPITAPH_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

struct ep_resumption {
	uint64_t place; /* it goes on there: a return address */
	uint64_t sp;    /* with this rsp: the unwinder's _Unwind_GetCFA of it */
	uint64_t rbp;
};

/* Makes it the caller's. False: not so, and it is as before. Asks the unwinder for a table where
 * the place is new; `asks` is where from, as of ep_interpose_keep. */
bool ep_frame_caller(struct ep_resumption *frame, uint64_t asks);

/* Code has gone, or is about to: other code may come to lie there. */
void ep_frames_forget(void);

#endif

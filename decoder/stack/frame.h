/* SPDX-License-Identifier: BSD-2-Clause */
/* frame.h: where a frame of an unwound stack is, in whichever names know it. */
#ifndef EPITAPH_FRAME_H
#define EPITAPH_FRAME_H

#include "decoder/stack/unwind.h"

/* The address of the instruction that the frame is at. */
static inline uint64_t ep_frame_address(const struct ep_frame *frame)
{
	return frame->pc - !frame->activation;
}

/* The function that the frame is in, in whichever names know it (`others` may be NULL). Never
 * NULL. */
const struct ep_function *ep_frame_function(struct ep_names *names, struct ep_names *others,
					    const struct ep_frame *frame);
/* As ep_names_address_line. */
struct ep_line ep_frame_line(struct ep_names *names, struct ep_names *others,
			     const struct ep_frame *frame);
/* The calls inlined there: as ep_names_inlined. */
size_t ep_frame_inlined(struct ep_names *names, struct ep_names *others,
			const struct ep_frame *frame, struct ep_inlined out[EP_INLINED_MAX]);

#endif

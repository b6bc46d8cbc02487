/* SPDX-License-Identifier: BSD-2-Clause */
/* frame.c: the names of the trace are asked first. */
#include "decoder/stack/frame.h"

const struct ep_function *ep_frame_function(struct ep_names *names, struct ep_names *others,
					    const struct ep_frame *frame)
{
	uint64_t at = ep_frame_address(frame);
	const struct ep_function *function = ep_names_find(names, at, 0);

	return !function->in && others ? ep_names_find(others, at, 0) : function;
}

/* Where these have the debug information of the place, the others have the same: asked too, they
 * read it all again. */
static bool is_settled(struct ep_names *names, struct ep_names *others, uint64_t address)
{
	struct ep_names_debug ignored;

	return !others || ep_names_debug(names, address, &ignored);
}

size_t ep_frame_inlined(struct ep_names *names, struct ep_names *others,
			const struct ep_frame *frame, struct ep_inlined out[EP_INLINED_MAX])
{
	uint64_t at = ep_frame_address(frame);
	size_t count = ep_names_inlined(names, at, 0, out);

	return count || is_settled(names, others, at) ? count
						      : ep_names_inlined(others, at, 0, out);
}

struct ep_line ep_frame_line(struct ep_names *names, struct ep_names *others,
			     const struct ep_frame *frame)
{
	uint64_t at = ep_frame_address(frame);
	struct ep_line line = ep_names_address_line(names, at, 0);

	return line.file || is_settled(names, others, at) ? line
							  : ep_names_address_line(others, at, 0);
}

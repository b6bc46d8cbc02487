/* SPDX-License-Identifier: BSD-2-Clause */
/* alignment_impl.h: the parts of an alignment, for each other. */
#ifndef EPITAPH_ALIGNMENT_IMPL_H
#define EPITAPH_ALIGNMENT_IMPL_H

#include "decoder/stack/alignment.h"

/* A row that has a frame, and whether a call may be paired with it. */
struct ep_frame_place {
	struct ep_row row;
	bool passed; /* its hook tells that it is not in flight: never paired */
	size_t call; /* counted from the innermost; EP_ROW_NONE: none */
};

struct ep_places {
	struct ep_frame_place *list; /* innermost first; owned */
	size_t count, room;
	bool starved;
};

/* Sets `call` of each place. False: out of memory. */
bool ep_places_pair(struct ep_places *places, const struct ep_open_calls *flight);

#endif

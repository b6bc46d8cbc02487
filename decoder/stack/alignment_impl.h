/* SPDX-License-Identifier: BSD-2-Clause */
/* alignment_impl.h: the parts of an alignment, for each other. */
#ifndef EPITAPH_ALIGNMENT_IMPL_H
#define EPITAPH_ALIGNMENT_IMPL_H

#include "coredump/util/array.h"
#include "decoder/code/hooks.h"
#include "decoder/stack/alignment.h"

/* A row that has a frame, and whether a call may be paired with it. */
struct ep_frame_place {
	struct ep_alignment_row row;
	bool passed; /* its hook has recorded that its call is not open: never paired */
	size_t call; /* counted from the innermost; EP_ROW_NONE: none */
	const struct ep_function *part_of; /* its code, without a name, is a part of that; NULL */
};

struct ep_places {
	struct ep_frame_place *list; /* innermost first */
	size_t count, capacity;
};

/* Paired with the open calls. Freed by ep_array_deinit. */
void ep_places_init(struct ep_places *places, const struct ep_alignment_of *of);
/* Sets `call` of each place. */
void ep_places_pair(struct ep_places *places, const struct ep_open_calls *open);

/* The names that know the row's frame, and what its code has of hooks. */
struct ep_names *ep_row_names(const struct ep_alignment_of *of, const struct ep_alignment_row *row);
enum ep_hooks ep_row_hooks(const struct ep_alignment_of *of, const struct ep_alignment_row *row);

/* Gives each row its verdict; EP_VERDICT_COUNT: it has none yet. */
void ep_alignment_judge(struct ep_alignment *alignment, const struct ep_alignment_of *of);

#endif

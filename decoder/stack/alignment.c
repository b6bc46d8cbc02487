/* SPDX-License-Identifier: BSD-2-Clause */
/* alignment.c: places of the stack, paired with calls, merged into rows, and each row judged. */
#include "decoder/stack/alignment.h"

#include "coredump/util/alloc.h"
#include "decoder/stack/alignment_impl.h"

static void add_calls(struct ep_alignment *out, const struct ep_open_calls *open, size_t from,
		      size_t to)
{
	for (size_t j = from; j < to; j++) {
		const struct ep_event *call = ep_open_calls_inner(open, j);

		out->rows[out->count++] = (struct ep_alignment_row){
			.function = call->function, .call = call, .verdict = EP_VERDICT_FRAME_LOST};
	}
}

/* Calls without a frame stand outside of the frames that are in doubt, too: what has no hooks is
 * likelier a leaf. */
static void merge(struct ep_alignment *out, const struct ep_places *places,
		  const struct ep_open_calls *open)
{
	size_t next = 0;

	for (size_t i = 0; i < places->count; i++) {
		const struct ep_frame_place *place = &places->list[i];
		struct ep_alignment_row row = place->row;

		if (place->call != EP_ROW_NONE) {
			add_calls(out, open, next, place->call);
			next = place->call + 1;
			row.call = ep_open_calls_inner(open, place->call);
			row.verdict = EP_VERDICT_AGREE;
			if (place->part_of)
				row.function = row.call->function;
		} else if (row.inlined) {
			row.verdict = EP_VERDICT_INLINED;
		} else if (!place->passed) {
			row.verdict = EP_VERDICT_COUNT;
		}
		out->rows[out->count++] = row;
	}
	add_calls(out, open, next, open->count);
}

void ep_alignment_init(struct ep_alignment *alignment, const struct ep_alignment_of *of)
{
	struct ep_places places;

	ep_places_init(&places, of);
	*alignment = (struct ep_alignment){
		.rows = ep_calloc(places.count + of->open->count, sizeof(*alignment->rows)),
	};
	merge(alignment, &places, of->open);
	ep_array_deinit(&places);
	ep_alignment_judge(alignment, of);
}

void ep_alignment_deinit(struct ep_alignment *alignment)
{
	free(alignment->rows);
	*alignment = (struct ep_alignment){0};
}

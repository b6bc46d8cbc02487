/* SPDX-License-Identifier: BSD-2-Clause */
/* fibers.c: stacks in the order in which they are met, so that each pass over the records finds the
 * same ones. */
#include "decoder/calls/fibers.h"

#include "coredump/util/alloc.h"
#include "coredump/util/search.h"

/* ---- fibers ---- */

static struct ep_fiber *fiber_make(struct ep_fibers *fibers)
{
	struct ep_fiber *fiber = ep_calloc(1, sizeof(*fiber));

	fiber->number = (uint32_t)fibers->all.count;
	ep_array_push(&fibers->all, fiber);
	return fiber;
}

struct ep_fiber *ep_fibers_add(struct ep_fibers *fibers)
{
	struct ep_fiber *fiber = fibers->met < fibers->all.count ? fibers->all.list[fibers->met]
								 : fiber_make(fibers);

	fibers->met++;
	fiber->height = fiber->floor = 0;
	fiber->outer_left = fiber->outer_all;
	fiber->function = UINT32_MAX;
	fiber->link = 0;
	fiber->over = false;
	fiber->switched.count = fiber->lowered.count = 0;
	return fiber;
}

void ep_fibers_rewind(struct ep_fibers *fibers)
{
	fibers->met = 0;
	fibers->saved.count = 0;
	fibers->serial = 0;
	ep_hash_deinit(&fibers->by_buffer);
}

void ep_fibers_deinit(struct ep_fibers *fibers)
{
	for (size_t i = 0; i < fibers->all.count; i++) {
		free(fibers->all.list[i]->stack);
		ep_array_deinit(&fibers->all.list[i]->switched);
		ep_array_deinit(&fibers->all.list[i]->lowered);
		free(fibers->all.list[i]);
	}
	ep_array_deinit(&fibers->all);
	ep_array_deinit(&fibers->saved);
	ep_hash_deinit(&fibers->by_buffer);
}

/* ---- calls that were switched off ---- */

void ep_fiber_lower(struct ep_fibers *fibers, struct ep_fiber *fiber)
{
	size_t height = fiber->height - 1;

	/* Those that are higher say less than this one does. */
	while (fiber->lowered.count &&
	       fiber->lowered.list[fiber->lowered.count - 1].height >= height)
		fiber->lowered.count--;
	ep_array_push(&fiber->lowered, ((struct ep_fiber_lowered){fibers->serial++, height}));
}

size_t ep_fiber_height(const struct ep_fiber *fiber, const struct ep_saved_context *place)
{
	const struct ep_fiber_lowered *list = fiber->lowered.list;
	size_t since = ep_partition_point(fiber->lowered.count, i, list[i].serial < place->serial);

	return since < fiber->lowered.count && list[since].height < place->height
		       ? list[since].height
		       : place->height;
}

/* ---- what buffers hold ---- */

static struct ep_saved_context *find(const struct ep_fibers *fibers, uint64_t buffer)
{
	uint32_t hash = ep_hash_number(buffer), at = 0, number;

	while ((number = ep_hash_next(&fibers->by_buffer, hash, &at)) != EP_HASH_NONE)
		if (fibers->saved.list[number].buffer == buffer)
			return &fibers->saved.list[number];
	return NULL;
}

void ep_fibers_save(struct ep_fibers *fibers, const struct ep_saved_context *context)
{
	struct ep_saved_context *held;

	if (context->buffer == 0)
		return;
	held = find(fibers, context->buffer);
	if (!held) {
		ep_hash_add(&fibers->by_buffer, ep_hash_number(context->buffer),
			    (uint32_t)fibers->saved.count);
		held = ep_array_add(&fibers->saved);
	}
	*held = *context;
}

const struct ep_saved_context *ep_fibers_find(const struct ep_fibers *fibers, uint64_t buffer)
{
	return buffer ? find(fibers, buffer) : NULL;
}

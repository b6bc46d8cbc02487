/* SPDX-License-Identifier: BSD-2-Clause */
/* fibers.c: stacks in the order in which they are met, so that each pass over the records finds the
 * same ones; places by open hashing. */
#include "decoder/calls/fibers.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

/* ---- fibers ---- */

static int grow_list(struct ep_fibers *fibers)
{
	uint32_t capacity = fibers->capacity ? 2 * fibers->capacity : 4;
	struct ep_fiber **grown;

	if (fibers->made < fibers->capacity)
		return EP_OK;
	grown = realloc(fibers->list, capacity * sizeof(struct ep_fiber *));
	if (!grown)
		return EP_E_MEMORY;
	fibers->list = grown;
	fibers->capacity = capacity;
	return EP_OK;
}

static struct ep_fiber *make(struct ep_fibers *fibers)
{
	struct ep_fiber *fiber;

	if (grow_list(fibers) != EP_OK)
		return NULL;
	fiber = calloc(1, sizeof(*fiber));
	if (!fiber)
		return NULL;
	fiber->number = fibers->made;
	fibers->list[fibers->made++] = fiber;
	return fiber;
}

struct ep_fiber *ep_fibers_add(struct ep_fibers *fibers)
{
	struct ep_fiber *fiber =
		fibers->count < fibers->made ? fibers->list[fibers->count] : make(fibers);

	if (!fiber)
		return NULL;
	fibers->count++;
	fiber->height = fiber->floor = 0;
	fiber->outer_left = fiber->outer_all;
	fiber->function = UINT32_MAX;
	fiber->link = 0;
	fiber->over = false;
	return fiber;
}

void ep_fibers_rewind(struct ep_fibers *fibers)
{
	fibers->count = 0;
	fibers->place_count = 0;
	if (fibers->places)
		memset(fibers->places, 0, fibers->place_capacity * sizeof(*fibers->places));
}

void ep_fibers_deinit(struct ep_fibers *fibers)
{
	for (uint32_t i = 0; i < fibers->made; i++) {
		free(fibers->list[i]->stack);
		free(fibers->list[i]);
	}
	free(fibers->list);
	free(fibers->places);
	memset(fibers, 0, sizeof(*fibers));
}

int ep_fiber_grow(struct ep_fiber *fiber)
{
	size_t capacity = fiber->capacity ? 2 * fiber->capacity : FIRST_CAPACITY;
	uint32_t *grown = realloc(fiber->stack, capacity * sizeof(*grown));

	if (!grown)
		return EP_E_MEMORY;
	fiber->stack = grown;
	fiber->capacity = capacity;
	return EP_OK;
}

/* ---- places ---- */

static struct ep_saved_context *slot_of(struct ep_saved_context *places, size_t capacity,
					uint64_t buffer)
{
	size_t at = (size_t)(buffer * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (capacity - 1);

	while (places[at].buffer && places[at].buffer != buffer)
		at = (at + 1) & (capacity - 1);
	return &places[at];
}

/* At most half full. */
static int grow_places(struct ep_fibers *fibers)
{
	size_t capacity = fibers->place_capacity ? 2 * fibers->place_capacity : FIRST_CAPACITY;
	struct ep_saved_context *grown;

	if (2 * (fibers->place_count + 1) <= fibers->place_capacity)
		return EP_OK;
	grown = calloc(capacity, sizeof(*grown));
	if (!grown)
		return EP_E_MEMORY;
	for (size_t i = 0; i < fibers->place_capacity; i++)
		if (fibers->places[i].buffer)
			*slot_of(grown, capacity, fibers->places[i].buffer) = fibers->places[i];
	free(fibers->places);
	fibers->places = grown;
	fibers->place_capacity = capacity;
	return EP_OK;
}

int ep_fibers_save(struct ep_fibers *fibers, const struct ep_saved_context *place)
{
	struct ep_saved_context *slot;

	if (place->buffer == 0)
		return EP_OK;
	if (grow_places(fibers) != EP_OK)
		return EP_E_MEMORY;
	slot = slot_of(fibers->places, fibers->place_capacity, place->buffer);
	fibers->place_count += slot->buffer == 0;
	*slot = *place;
	return EP_OK;
}

const struct ep_saved_context *ep_fibers_find(const struct ep_fibers *fibers, uint64_t buffer)
{
	const struct ep_saved_context *slot;

	if (!buffer || !fibers->place_capacity)
		return NULL;
	slot = slot_of(fibers->places, fibers->place_capacity, buffer);
	return slot->buffer ? slot : NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.c: an open hash table. */
#include "funcount/filter/labels.h"

#include <stdlib.h>

/* FNV-1a. */
static uint32_t hash(struct ep_piece name)
{
	uint32_t sum = 2166136261U;

	for (size_t i = 0; i < name.size; i++)
		sum = (sum ^ (unsigned char)name.at[i]) * 16777619U;
	return sum;
}

/* Where it is, or would be. */
static struct ep_label *slot_of(const struct ep_labels *labels, struct ep_piece name)
{
	uint32_t at = hash(name);

	for (;; at++) {
		struct ep_label *slot = &labels->slots[at & (labels->room - 1)];

		if (!slot->name.at || ep_piece_equal(slot->name, name))
			return slot;
	}
}

static bool grow(struct ep_labels *labels)
{
	struct ep_labels more = {.room = labels->room ? labels->room * 2 : 256,
				 .count = labels->count};

	more.slots = calloc(more.room, sizeof *more.slots);
	if (!more.slots)
		return false;
	for (uint32_t i = 0; i < labels->room; i++)
		if (labels->slots[i].name.at)
			*slot_of(&more, labels->slots[i].name) = labels->slots[i];
	free(labels->slots);
	*labels = more;
	return true;
}

struct ep_label *ep_labels_at(struct ep_labels *labels, struct ep_piece name)
{
	struct ep_label *slot;

	if (labels->count >= labels->room / 3 * 2 && !grow(labels))
		return NULL;
	slot = slot_of(labels, name);
	if (!slot->name.at) {
		*slot = (struct ep_label){name, UINT32_MAX, UINT32_MAX, UINT32_MAX, false};
		labels->count++;
	}
	return slot;
}

struct ep_label *ep_labels_find(const struct ep_labels *labels, struct ep_piece name)
{
	struct ep_label *slot = labels->room ? slot_of(labels, name) : NULL;

	return slot && slot->name.at ? slot : NULL;
}

void ep_labels_deinit(struct ep_labels *labels)
{
	free(labels->slots);
	*labels = (struct ep_labels){0};
}

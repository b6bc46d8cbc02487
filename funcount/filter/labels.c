/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.c: labels by a hash of their names. */
#include "funcount/filter/labels.h"

static struct ep_label *find(const struct ep_labels *labels, struct ep_piece name, uint32_t hash)
{
	uint32_t at = 0, number;

	while ((number = ep_hash_next(&labels->index, hash, &at)) != EP_HASH_NONE)
		if (ep_piece_equal(labels->list.list[number].name, name))
			return &labels->list.list[number];
	return NULL;
}

struct ep_label *ep_labels_at(struct ep_labels *labels, struct ep_piece name)
{
	uint32_t hash = ep_hash_bytes(name.at, name.size);
	struct ep_label *label = find(labels, name, hash);

	if (label)
		return label;
	ep_hash_add(&labels->index, hash, (uint32_t)labels->list.count);
	label = ep_array_add(&labels->list);
	*label = (struct ep_label){name, UINT32_MAX, UINT32_MAX, UINT32_MAX, false};
	return label;
}

struct ep_label *ep_labels_find(const struct ep_labels *labels, struct ep_piece name)
{
	return find(labels, name, ep_hash_bytes(name.at, name.size));
}

void ep_labels_deinit(struct ep_labels *labels)
{
	ep_array_deinit(&labels->list);
	ep_hash_deinit(&labels->index);
}

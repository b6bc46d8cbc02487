/* SPDX-License-Identifier: BSD-2-Clause */
/* merge.c: a heap of each table's next entry. */
#include "decoder/stream/merge.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"

struct source {
	struct ep_call_table *table;
	size_t at;     /* of the next one that is wanted */
	uint64_t time; /* of it, and not less than any before */
};

struct ep_merge {
	bool (*want)(const struct ep_call_table *table, size_t at);
	struct source *sources;
	struct source **heap; /* those that have a next one, first on top */
	size_t count;
	bool due; /* the top's was handed out: it is to go on */
};

static bool comes_first(const struct source *a, const struct source *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->table < b->table;
}

static void sift_down(struct ep_merge *merge, size_t at)
{
	struct source **heap = merge->heap, *moved = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= merge->count)
			break;
		if (child + 1 < merge->count && comes_first(heap[child + 1], heap[child]))
			child++;
		if (!comes_first(heap[child], moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static uint64_t time_of(const struct ep_call_table *table, size_t at)
{
	uint32_t entry = table->order.list[at], index = entry >> 2;

	switch (ep_call_step_of(entry)) {
	case EP_CALL_STEP_BEGIN:
		return table->rows.list[index].begin;
	case EP_CALL_STEP_END:
		return table->rows.list[index].end;
	default:
		return table->marks.list[index].begin;
	}
}

/* On to the first from there that is wanted. False: there is none. */
static bool seek(const struct ep_merge *merge, struct source *source, size_t at)
{
	for (; at < source->table->order.count; at++) {
		uint64_t time = time_of(source->table, at);

		if (time > source->time)
			source->time = time;
		source->at = at;
		if (merge->want(source->table, at))
			return true;
	}
	return false;
}

struct ep_merge *ep_merge_create(struct ep_call_table *tables, size_t count,
				 bool (*want)(const struct ep_call_table *table, size_t at))
{
	struct ep_merge *merge = ep_calloc(1, sizeof(*merge));

	merge->want = want;
	merge->sources = ep_calloc(count, sizeof(*merge->sources));
	merge->heap = ep_calloc(count, sizeof(struct source *));
	for (size_t i = 0; i < count; i++) {
		merge->sources[i].table = &tables[i];
		if (seek(merge, &merge->sources[i], 0))
			merge->heap[merge->count++] = &merge->sources[i];
	}
	for (size_t i = merge->count / 2; i-- > 0;)
		sift_down(merge, i);
	return merge;
}

void ep_merge_destroy(struct ep_merge *merge)
{
	free(merge->sources);
	free(merge->heap);
	free(merge);
}

struct ep_call_table *ep_merge_next(struct ep_merge *merge, size_t *at)
{
	if (merge->due) {
		if (!seek(merge, merge->heap[0], merge->heap[0]->at + 1))
			merge->heap[0] = merge->heap[--merge->count];
		if (merge->count > 1)
			sift_down(merge, 0);
	}
	merge->due = merge->count > 0;
	if (!merge->due)
		return NULL;
	*at = merge->heap[0]->at;
	return merge->heap[0]->table;
}

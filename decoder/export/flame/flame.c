/* SPDX-License-Identifier: BSD-2-Clause */
/* flame.c: sums from the leaves to the roots, then places from the roots to the leaves. Nothing
 * recurses: a stack may be as deep as the format allows. */
#include "decoder/export/flame/flame.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/util/timetext.h"

struct layout {
	struct ep_flame *flame;
	uint64_t *totals; /* by node */
	uint32_t *order;  /* nodes by parent, the heaviest first */
	uint32_t *first;  /* by node: of its children in `order` */
};

static int compare(const void *a, const void *b, void *context)
{
	const struct layout *layout = context;
	const struct ep_calltree_node *nodes = layout->flame->tree.calls.nodes.list;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (nodes[i].parent != nodes[j].parent)
		return nodes[i].parent < nodes[j].parent ? -1 : 1;
	if (layout->totals[i] != layout->totals[j])
		return layout->totals[i] > layout->totals[j] ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void sum_up(struct layout *layout)
{
	const struct ep_stack_tree *tree = &layout->flame->tree;
	const struct ep_calltree_node *nodes = tree->calls.nodes.list;

	for (size_t i = tree->calls.nodes.count; i-- > 1;) {
		layout->totals[i] += ep_stack_weight(tree, &nodes[i]);
		layout->totals[nodes[i].parent] += layout->totals[i];
	}
	layout->flame->total = layout->totals[0];
}

static void sort(struct layout *layout)
{
	const struct ep_calltree *calls = &layout->flame->tree.calls;
	uint32_t count = (uint32_t)calls->nodes.count - 1, node = 0;

	for (uint32_t i = 0; i < count; i++)
		layout->order[i] = i + 1;
	if (count)
		qsort_r(layout->order, count, sizeof(*layout->order), compare, layout);
	for (uint32_t i = 0; i < count; i++)
		while (node <= calls->nodes.list[layout->order[i]].parent)
			layout->first[node++] = i;
	while (node <= count + 1)
		layout->first[node++] = count;
}

/* Those of a frame are put on the stack with the lightest on top, and turn out last. */
static void place_inside(struct layout *layout, struct ep_flame *stack, uint32_t of, uint64_t begin)
{
	size_t bottom = stack->frames.count;

	for (uint32_t i = layout->first[of]; i < layout->first[of + 1]; i++) {
		uint32_t node = layout->order[i];

		if (layout->totals[node])
			ep_array_push(&stack->frames,
				      ((struct ep_flame_frame){node, begin, layout->totals[node]}));
		begin += layout->totals[node];
	}
	for (size_t i = bottom, j = stack->frames.count; i + 1 < j; i++) {
		struct ep_flame_frame frame = stack->frames.list[--j];

		stack->frames.list[j] = stack->frames.list[i];
		stack->frames.list[i] = frame;
	}
}

static void place_all(struct layout *layout)
{
	struct ep_flame *flame = layout->flame, stack = {0};

	place_inside(layout, &stack, 0, 0);
	while (stack.frames.count) {
		struct ep_flame_frame frame = stack.frames.list[--stack.frames.count];
		uint32_t depth = flame->tree.calls.nodes.list[frame.node].depth;

		ep_array_push(&flame->frames, frame);
		flame->depth = depth > flame->depth ? depth : flame->depth;
		place_inside(layout, &stack, frame.node, frame.begin);
	}
	ep_array_deinit(&stack.frames);
}

void ep_flame_create(struct ep_flame *flame, const struct ep_export *export, uint64_t *shown)
{
	struct layout layout = {.flame = flame};
	size_t count;

	*flame = (struct ep_flame){0};
	ep_stack_tree_create(&flame->tree, export, shown);
	count = flame->tree.calls.nodes.count;
	layout.totals = ep_calloc(count + 1, sizeof(*layout.totals));
	layout.order = ep_calloc(count + 1, sizeof(*layout.order));
	layout.first = ep_calloc(count + 2, sizeof(*layout.first));
	sum_up(&layout);
	sort(&layout);
	place_all(&layout);
	free(layout.totals);
	free(layout.order);
	free(layout.first);
}

void ep_flame_deinit(struct ep_flame *flame)
{
	ep_array_deinit(&flame->frames);
	ep_stack_tree_deinit(&flame->tree);
}

const char *ep_flame_text(char out[EP_FLAME_TEXT], const struct ep_flame *flame, uint64_t weight)
{
	char text[EP_TIMETEXT_SIZE];

	if (flame->tree.export->count_calls)
		snprintf(out, EP_FLAME_TEXT, "%s call%s", ep_counttext(text, weight),
			 weight == 1 ? "" : "s");
	else
		snprintf(out, EP_FLAME_TEXT, "%s", ep_timetext(text, (int64_t)weight));
	return out;
}

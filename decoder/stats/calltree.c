/* SPDX-License-Identifier: BSD-2-Clause */
/* calltree.c: each frame that ends adds to its node; totals are added up at the end. */
#include "decoder/stats/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/calls/placing.h"
#include "decoder/stream/nest.h"

/* ---- nodes ---- */

static bool is_child(const struct ep_calltree_node *node, uint32_t parent, uint32_t kind,
		     const struct ep_function *function)
{
	return node->parent == parent && node->kind == kind && node->function == function;
}

static uint32_t add_child(struct ep_calltree *tree, uint32_t parent, uint32_t kind,
			  const struct ep_function *function)
{
	uint32_t number = (uint32_t)tree->nodes.count;
	struct ep_calltree_node *node = ep_array_add(&tree->nodes);

	*node = (struct ep_calltree_node){.function = function,
					  .kind = kind,
					  .parent = parent,
					  .child = EP_CALLTREE_NONE,
					  .next = tree->nodes.list[parent].child,
					  .depth = tree->nodes.list[parent].depth + 1};
	tree->nodes.list[parent].child = number;
	return number;
}

/* Made when it is not there. */
static uint32_t child(struct ep_calltree *tree, uint32_t parent, uint32_t kind,
		      const struct ep_function *function)
{
	uint64_t key = function ? function->id + UINT64_C(16) : kind;
	uint32_t hash = ep_hash_number((uint64_t)parent << 32 ^ key), at = 0, number;

	while ((number = ep_hash_next(&tree->by_parent, hash, &at)) != EP_HASH_NONE)
		if (is_child(&tree->nodes.list[number], parent, kind, function))
			return number;
	number = add_child(tree, parent, kind, function);
	ep_hash_add(&tree->by_parent, hash, number);
	return number;
}

/* A function's; or the one of all that is too deep. */
static uint32_t function_below(struct ep_calltree *tree, uint32_t parent,
			       const struct ep_function *function)
{
	if (tree->nodes.list[parent].kind == EP_CALLTREE_DEEPER)
		return parent;
	if (tree->nodes.list[parent].depth >=
	    EP_CALLTREE_DEPTH + (tree->by != EP_CALLTREE_BY_CALLS))
		return child(tree, parent, EP_CALLTREE_DEEPER, NULL);
	return child(tree, parent, EP_CALLTREE_FUNCTION, function);
}

/* Where the thread's outermost calls hang. */
static uint32_t root_of(struct ep_calltree *tree, const struct ep_nest_thread *thread)
{
	const struct ep_trace *trace = tree->trace;
	uint32_t *root = &tree->roots[thread->index], first = (uint32_t)thread->index, at = 0;

	if (*root != EP_CALLTREE_NONE)
		return *root;
	if (tree->by == EP_CALLTREE_BY_CALLS)
		return *root = 0;
	for (uint32_t i = 0; tree->by == EP_CALLTREE_BY_THREAD_NAMES && i < first; i++)
		if (!strcmp(trace->threads[i].name, thread->thread->name))
			first = i;
	for (at = tree->nodes.list[0].child; at != EP_CALLTREE_NONE; at = tree->nodes.list[at].next)
		if (tree->nodes.list[at].thread == first)
			break;
	if (at == EP_CALLTREE_NONE) {
		at = add_child(tree, 0, EP_CALLTREE_THREAD, NULL);
		tree->nodes.list[at].thread = first;
	}
	return *root = thread->thread->from_start ? at : child(tree, at, EP_CALLTREE_OLDER, NULL);
}

/* Of the frame at `index`, counted from 1; 0: what the outermost hangs on. */
static uint32_t node_at(struct ep_calltree *tree, const struct ep_nest_thread *thread, size_t index)
{
	return index ? (uint32_t)thread->frames[index - 1].mark : root_of(tree, thread);
}

/* ---- events ---- */

static void add_call(struct ep_calltree *tree, const struct ep_nest_thread *thread)
{
	uint32_t parent = node_at(tree, thread, thread->count - 1);
	uint32_t node = function_below(tree, parent, thread->frame->function);

	thread->frame->mark = node;
	tree->nodes.list[node].calls++;
}

static void add_end(struct ep_calltree *tree, const struct ep_nest_frame *frame, bool returned)
{
	struct ep_calltree_node *node = &tree->nodes.list[frame->mark];

	node->open += !returned;
	node->self += frame->ran - frame->inner;
	node->waited += frame->waited;
}

static void add_gap(struct ep_calltree *tree, const struct ep_nest_thread *thread,
		    const struct ep_event *event)
{
	uint32_t kind = event->gap & EP_GAP_PAUSED ? EP_CALLTREE_PAUSED : EP_CALLTREE_MISSING;

	uint32_t node;

	if (!thread->gap)
		return;
	node = child(tree, node_at(tree, thread, thread->count), kind, NULL);
	tree->nodes.list[node].self += thread->gap;
}

/* Of which it is not certain in which call it was: in the functions of which that is. */
static void add_wait(struct ep_calltree *tree, const struct ep_nest_thread *thread,
		     const struct ep_wait_place *place)
{
	uint32_t node = node_at(tree, thread, thread->own);

	if (ep_place_is_certain(place))
		return;
	for (unsigned i = 0; !tree->selected && i < place->path_count; i++)
		node = function_below(tree, node, place->path[i]);
	if (!place->whole || tree->selected)
		node = child(tree, node, EP_CALLTREE_INSIDE, NULL);
	tree->nodes.list[node].self += thread->gap;
	tree->nodes.list[node].waited += thread->gap;
}

/* A sink. */
static int calltree_event(void *context, const struct ep_event *event,
			  const struct ep_nest_thread *thread)
{
	struct ep_calltree *tree = context;

	if (event->kind == EP_EVENT_BEGIN)
		add_call(tree, thread);
	else if (event->kind == EP_EVENT_END && !(event->flags & EP_CALL_STRAY))
		add_end(tree, thread->frame, true);
	else if (event->kind == EP_EVENT_OPEN || event->kind == EP_EVENT_LEFT)
		add_end(tree, thread->frame, false);
	else if (event->kind == EP_EVENT_GAP)
		add_gap(tree, thread, event);
	else if (event->kind == EP_EVENT_WAIT)
		add_wait(tree, thread, event->place);
	return EP_OK;
}

/* Children stand behind their parents. */
static void add_up(struct ep_calltree *tree)
{
	struct ep_calltree_node *nodes = tree->nodes.list;

	for (size_t i = tree->nodes.count; i-- > 0;) {
		nodes[i].total += nodes[i].self;
		if (nodes[i].parent != EP_CALLTREE_NONE)
			nodes[nodes[i].parent].total += nodes[i].total;
	}
}

void ep_calltree_create(struct ep_calltree *tree, const struct ep_trace *trace,
			struct ep_names *names, const struct ep_selection *selection,
			enum ep_calltree_by by, uint64_t *shown)
{
	const struct ep_sink sink = {.context = tree,
				     .event = calltree_event,
				     .waits = true,
				     .nested = true,
				     .any_order = true,
				     .clip = true};

	*tree = (struct ep_calltree){
		.trace = trace, .by = by, .selected = ep_selection_leaves_out(selection)};
	tree->roots = ep_calloc(trace->thread_count, sizeof(*tree->roots));
	for (size_t i = 0; i < trace->thread_count; i++)
		tree->roots[i] = EP_CALLTREE_NONE;
	ep_array_push(&tree->nodes, ((struct ep_calltree_node){.parent = EP_CALLTREE_NONE,
							       .child = EP_CALLTREE_NONE,
							       .next = EP_CALLTREE_NONE}));
	ep_stream(trace, names, selection, &sink, shown);
	free(tree->roots);
	tree->roots = NULL;
	add_up(tree);
	ep_calltree_sort(tree, EP_CALLTREE_TOTAL, false);
}

void ep_calltree_deinit(struct ep_calltree *tree)
{
	ep_array_deinit(&tree->nodes);
	ep_hash_deinit(&tree->by_parent);
}

/* ---- order ---- */

struct order {
	const struct ep_calltree_node *nodes;
	enum ep_calltree_key key;
	bool reverse;
};

static int compare_numbers(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int compare_by(const struct ep_calltree_node *a, const struct ep_calltree_node *b,
		      enum ep_calltree_key key)
{
	switch (key) {
	case EP_CALLTREE_SELF:
		return compare_numbers(a->self, b->self);
	case EP_CALLTREE_CALLS:
		return (a->calls < b->calls) - (a->calls > b->calls);
	case EP_CALLTREE_NAME:
		return strcmp(ep_calltree_name(a), ep_calltree_name(b));
	default:
		return compare_numbers(a->total, b->total);
	}
}

static int compare(const void *x, const void *y, void *context)
{
	const struct order *order = context;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int by = compare_by(&order->nodes[a], &order->nodes[b], order->key);

	if (by)
		return order->reverse ? -by : by;
	by = strcmp(ep_calltree_name(&order->nodes[a]), ep_calltree_name(&order->nodes[b]));
	return by ? by : (a > b) - (a < b);
}

void ep_calltree_sort(struct ep_calltree *tree, enum ep_calltree_key key, bool reverse)
{
	struct order order = {tree->nodes.list, key, reverse};
	struct ep_calltree_node *nodes = tree->nodes.list;
	EP_ARRAY(uint32_t) children = {0};

	for (size_t i = 0; i < tree->nodes.count; i++) {
		children.count = 0;
		for (uint32_t at = nodes[i].child; at != EP_CALLTREE_NONE; at = nodes[at].next)
			ep_array_push(&children, at);
		if (children.count < 2)
			continue;
		qsort_r(children.list, children.count, sizeof(uint32_t), compare, &order);
		nodes[i].child = children.list[0];
		for (size_t j = 0; j < children.count; j++)
			nodes[children.list[j]].next =
				j + 1 < children.count ? children.list[j + 1] : EP_CALLTREE_NONE;
	}
	ep_array_deinit(&children);
}

const char *ep_calltree_name(const struct ep_calltree_node *node)
{
	static const char *const words[] = {
		[EP_CALLTREE_ROOT] = "",
		[EP_CALLTREE_FUNCTION] = "",
		[EP_CALLTREE_MISSING] = "[history is missing]",
		[EP_CALLTREE_PAUSED] = "[tracing was paused]",
		[EP_CALLTREE_INSIDE] = "[waited somewhere inside]",
		[EP_CALLTREE_DEEPER] = "[deeper than 1000 calls]",
		[EP_CALLTREE_THREAD] = "",
		[EP_CALLTREE_OLDER] = "[began before the history]",
	};

	return node->function ? node->function->name : words[node->kind];
}

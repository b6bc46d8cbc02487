/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_tree.c: a sink that keeps a node for each distinct stack, found by its parent and key. */
#include "decoder/export/flame/stack_tree.h"

#include <inttypes.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"
#include "decoder/calls/placing.h"
#include "decoder/trace/records.h"

#define DEPTH_MAX EP_EXPORT_DEPTH_MAX
#define NONE      EP_STACK_NODE_NONE

enum bracket { OLDER, MISSING, PAUSED, DEEPER, INSIDE };

static const char *const brackets[] = {
	[OLDER] = "[began before the history]",
	[MISSING] = "[history is missing]",
	[PAUSED] = "[tracing was paused]",
	[DEEPER] = EP_EXPORT_TOO_DEEP,
	[INSIDE] = EP_EXPORT_INSIDE,
};

/* ---- names ---- */

/* "worker (4711)", or "worker". From malloc. */
static char *thread_text(const struct ep_stack_tree *tree, uint32_t index)
{
	const struct ep_trace_thread *thread = &tree->export->trace->threads[index];
	const char *name = thread->name[0] ? thread->name : "thread";

	if (tree->export->merge_threads)
		return ep_strdup(name);
	if (thread->tid)
		return ep_asprintf("%s (%" PRIu32 ")", name, thread->tid);
	return ep_asprintf("%s (#%" PRIu32 ")", name, thread->serial);
}

char *ep_stack_tree_name(const struct ep_stack_tree *tree, const struct ep_stack_node *node)
{
	char *text, *clean;

	if (node->kind == EP_STACK_BRACKET)
		return ep_strdup(brackets[node->key]);
	if (node->kind == EP_STACK_FUNCTION) {
		const char *name = tree->functions.list[node->key]->name;

		return ep_utf8_escape(name, strlen(name));
	}
	text = thread_text(tree, node->key);
	clean = ep_utf8_escape(text, strlen(text));
	free(text);
	return clean;
}

/* ---- the tree ---- */

/* The child of that kind and key, made when it is not there. */
static uint32_t child(struct ep_stack_tree *tree, uint32_t parent, enum ep_stack_kind kind,
		      uint32_t key)
{
	uint32_t hash = ep_hash_number(((uint64_t)parent << 32 | key) * 4 + kind), at = 0, number;
	struct ep_stack_node *node;

	while ((number = ep_hash_next(&tree->by_parent, hash, &at)) != EP_HASH_NONE) {
		node = &tree->nodes.list[number];
		if (node->parent == parent && node->kind == kind && node->key == key)
			return number;
	}
	number = (uint32_t)tree->nodes.count;
	ep_hash_add(&tree->by_parent, hash, number);
	node = ep_array_add(&tree->nodes);
	node->parent = parent;
	node->depth = parent == NONE ? 0 : tree->nodes.list[parent].depth + 1;
	node->kind = kind;
	node->key = key;
	return number;
}

static void meet(struct ep_stack_tree *tree, const struct ep_function *function)
{
	while (tree->functions.count <= function->id)
		ep_array_add(&tree->functions);
	tree->functions.list[function->id] = function;
}

/* Where the thread's outermost calls hang: what called them may be older than what is left of its
 * history. */
static uint32_t root_of(struct ep_stack_tree *tree, const struct ep_nest_thread *thread)
{
	const struct ep_trace *trace = tree->export->trace;
	uint32_t *root = &tree->roots[thread->index], key;

	if (*root != NONE)
		return *root;
	key = (uint32_t)thread->index;
	for (uint32_t i = 0; tree->export->merge_threads && i < key; i++)
		if (!strcmp(trace->threads[i].name, thread->thread->name))
			key = i;
	*root = child(tree, NONE, EP_STACK_THREAD, key);
	if (!thread->thread->from_start)
		*root = child(tree, *root, EP_STACK_BRACKET, OLDER);
	return *root;
}

/* The stack below the innermost frame of `thread`, which has `above` frames more. */
static uint32_t node_below(struct ep_stack_tree *tree, const struct ep_nest_thread *thread,
			   size_t above)
{
	return thread->count > above ? (uint32_t)thread->frames[thread->count - 1 - above].mark
				     : root_of(tree, thread);
}

/* ---- events ---- */

static void add_call(struct ep_stack_tree *tree, const struct ep_nest_thread *thread)
{
	const struct ep_function *function = thread->frame->function;
	uint32_t parent = node_below(tree, thread, 1), node;
	bool deeper = tree->nodes.list[parent].depth >= DEPTH_MAX;

	if (deeper && tree->nodes.list[parent].kind == EP_STACK_BRACKET)
		node = parent;
	else if (deeper)
		node = child(tree, parent, EP_STACK_BRACKET, DEEPER);
	else
		node = child(tree, parent, EP_STACK_FUNCTION, function->id);
	meet(tree, function);
	thread->frame->mark = node;
	if (tree->export->count_calls)
		tree->nodes.list[node].weight++;
}

static void add_self(struct ep_stack_tree *tree, const struct ep_nest_frame *frame)
{
	if (!tree->export->count_calls)
		tree->nodes.list[frame->mark].weight += (uint64_t)(frame->ran - frame->inner);
}

static void add_gap(struct ep_stack_tree *tree, const struct ep_nest_thread *thread,
		    const struct ep_event *event)
{
	uint32_t node;

	if (thread->gap == 0 || tree->export->count_calls)
		return;
	node = child(tree, node_below(tree, thread, 0), EP_STACK_BRACKET,
		     event->gap & EP_GAP_PAUSED ? PAUSED : MISSING);
	tree->nodes.list[node].weight += (uint64_t)thread->gap;
}

/* A wait of which it is not known in which call it was has the functions of which that is certain,
 * and a frame that says the rest. */
static void add_wait(struct ep_stack_tree *tree, const struct ep_nest_thread *thread,
		     const struct ep_event *event)
{
	const struct ep_wait_place *place = event->place;
	bool selected = ep_selection_leaves_out(tree->export->selection);
	uint32_t node;

	if (ep_place_is_certain(place) || tree->export->count_calls)
		return;
	node = node_below(tree, thread, thread->count - thread->own);
	for (unsigned i = 0; i < place->path_count; i++) {
		if (selected || tree->nodes.list[node].depth >= DEPTH_MAX)
			break;
		node = child(tree, node, EP_STACK_FUNCTION, place->path[i]->id);
		meet(tree, place->path[i]);
	}
	if (!place->whole || selected)
		node = child(tree, node, EP_STACK_BRACKET, INSIDE);
	tree->nodes.list[node].weight += (uint64_t)thread->gap;
}

/* A sink. */
static int stack_tree_event(void *context, const struct ep_event *event,
			    const struct ep_nest_thread *thread)
{
	struct ep_stack_tree *tree = context;

	if (event->kind == EP_EVENT_BEGIN)
		add_call(tree, thread);
	else if (event->kind == EP_EVENT_OPEN || event->kind == EP_EVENT_LEFT ||
		 (event->kind == EP_EVENT_END && !(event->flags & EP_CALL_STRAY)))
		add_self(tree, thread->frame);
	else if (event->kind == EP_EVENT_GAP)
		add_gap(tree, thread, event);
	else if (event->kind == EP_EVENT_WAIT)
		add_wait(tree, thread, event);
	return EP_OK;
}

/* ---- the whole ---- */

void ep_stack_tree_create(struct ep_stack_tree *tree, const struct ep_export *export,
			  uint64_t *shown)
{
	const struct ep_sink sink = {.context = tree,
				     .event = stack_tree_event,
				     .waits = true,
				     .nested = true,
				     .any_order = true,
				     .clip = true};
	size_t threads = export->trace->thread_count;

	*tree = (struct ep_stack_tree){.export = export};
	tree->roots = ep_calloc(threads, sizeof(*tree->roots));
	for (size_t i = 0; i < threads; i++)
		tree->roots[i] = NONE;
	ep_stream(export->trace, export->names, export->selection, &sink, shown);
}

void ep_stack_tree_deinit(struct ep_stack_tree *tree)
{
	ep_array_deinit(&tree->functions);
	ep_array_deinit(&tree->nodes);
	ep_hash_deinit(&tree->by_parent);
	free(tree->roots);
}

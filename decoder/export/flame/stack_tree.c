/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_tree.c: names and weights of the tree's nodes. */
#include "decoder/export/flame/stack_tree.h"

#include <inttypes.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"

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

enum ep_stack_kind ep_stack_kind(const struct ep_calltree_node *node)
{
	if (node->kind == EP_CALLTREE_THREAD)
		return EP_STACK_THREAD;
	return node->kind == EP_CALLTREE_FUNCTION ? EP_STACK_FUNCTION : EP_STACK_BRACKET;
}

uint64_t ep_stack_weight(const struct ep_stack_tree *tree, const struct ep_calltree_node *node)
{
	return tree->export->count_calls ? node->calls : (uint64_t)node->self;
}

char *ep_stack_name(const struct ep_stack_tree *tree, const struct ep_calltree_node *node)
{
	char *text = NULL, *clean;
	const char *name;

	if (node->kind == EP_CALLTREE_THREAD)
		text = thread_text(tree, node->thread);
	if (node->kind == EP_CALLTREE_DEEPER)
		name = EP_EXPORT_TOO_DEEP;
	else
		name = text ? text : ep_calltree_name(node);
	clean = ep_utf8_escape(name, strlen(name));
	free(text);
	return clean;
}

void ep_stack_tree_create(struct ep_stack_tree *tree, const struct ep_export *export,
			  uint64_t *shown)
{
	tree->export = export;
	ep_calltree_create(&tree->calls, export->trace, export->names, export->selection,
			   export->merge_threads ? EP_CALLTREE_BY_THREAD_NAMES
						 : EP_CALLTREE_BY_THREADS,
			   shown);
}

void ep_stack_tree_deinit(struct ep_stack_tree *tree)
{
	ep_calltree_deinit(&tree->calls);
}

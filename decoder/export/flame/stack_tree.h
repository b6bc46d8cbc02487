/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_tree.h: the distinct stacks of a stream, as a tree: each node's weight is what was spent in
 * exactly that stack, in ns, or how many calls of it there were. What functions cannot say, nodes
 * in brackets do. For whatever draws or writes flame graphs; memory is bounded by distinct stacks.
 */
#ifndef EPITAPH_STACK_TREE_H
#define EPITAPH_STACK_TREE_H

#include "coredump/util/hash.h"
#include "decoder/export/export.h"

#define EP_STACK_NODE_NONE UINT32_MAX

enum ep_stack_kind { EP_STACK_THREAD, EP_STACK_FUNCTION, EP_STACK_BRACKET };

struct ep_stack_node {
	uint32_t parent; /* its number is less; EP_STACK_NODE_NONE: a thread */
	uint32_t depth;  /* 0: a thread; up to EP_EXPORT_DEPTH_MAX and 2 */
	enum ep_stack_kind kind;
	uint32_t key; /* id of a function; index of a thread; private */
	uint64_t weight;
};

struct ep_stack_tree {
	const struct ep_export *export;
	EP_ARRAY(const struct ep_function *) functions; /* by id; NULL: not met */
	EP_ARRAY(struct ep_stack_node) nodes;
	/* private */
	struct ep_hash by_parent; /* of nodes */
	uint32_t *roots;          /* by thread: its node, or EP_STACK_NODE_NONE */
};

/* Reads the stream: export->count_calls and merge_threads say how. */
void ep_stack_tree_create(struct ep_stack_tree *tree, const struct ep_export *export,
			  uint64_t *shown);
void ep_stack_tree_deinit(struct ep_stack_tree *tree);

/* The function's name, "worker (4711)", or words in brackets: valid UTF-8 without control
 * characters. The caller frees it. */
char *ep_stack_tree_name(const struct ep_stack_tree *tree, const struct ep_stack_node *node);

#endif

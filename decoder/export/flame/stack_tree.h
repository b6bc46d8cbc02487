/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_tree.h: the distinct stacks of a stream by thread (calltree.h), as whatever draws or writes
 * flame graphs wants them: each node's weight is what was spent in exactly that stack, in ns, or
 * how many calls of it there were. What functions cannot say, nodes in brackets do.
 */
#ifndef EPITAPH_STACK_TREE_H
#define EPITAPH_STACK_TREE_H

#include "decoder/export/export.h"
#include "decoder/stats/calltree.h"

enum ep_stack_kind { EP_STACK_THREAD, EP_STACK_FUNCTION, EP_STACK_BRACKET };

struct ep_stack_tree {
	const struct ep_export *export;
	struct ep_calltree calls; /* below the root: threads */
};

/* Reads the stream: export->count_calls and merge_threads say how. */
void ep_stack_tree_create(struct ep_stack_tree *tree, const struct ep_export *export,
			  uint64_t *shown);
void ep_stack_tree_deinit(struct ep_stack_tree *tree);

enum ep_stack_kind ep_stack_kind(const struct ep_calltree_node *node);
uint64_t ep_stack_weight(const struct ep_stack_tree *tree, const struct ep_calltree_node *node);

/* The function's name, "worker (4711)", or words in brackets: valid UTF-8 without control
 * characters. The caller frees it. */
char *ep_stack_name(const struct ep_stack_tree *tree, const struct ep_calltree_node *node);

#endif

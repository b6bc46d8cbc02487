/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calltree.h: calls → a tree of distinct stacks: how often each function was called by that way,
 * and for how long. What a node and those below it took adds up. Memory is bounded by distinct
 * stacks and open calls.
 */
#ifndef EPITAPH_CALLTREE_H
#define EPITAPH_CALLTREE_H

#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "decoder/stream/stream.h"

#define EP_CALLTREE_NONE  UINT32_MAX
#define EP_CALLTREE_DEPTH 1000u /* levels of a thread; deeper calls are one node's */

/* What a node is that is no function. */
enum ep_calltree_kind {
	EP_CALLTREE_ROOT,
	EP_CALLTREE_FUNCTION,
	EP_CALLTREE_MISSING, /* time of which history is missing */
	EP_CALLTREE_PAUSED,  /* … because tracing was paused */
	EP_CALLTREE_INSIDE,  /* waits in its parent, or in what that called: not known which */
	EP_CALLTREE_DEEPER,  /* calls below the deepest level */
	EP_CALLTREE_THREAD,  /* … or those of one name; below the root */
	EP_CALLTREE_OLDER,   /* what called its children began before the history */
};

struct ep_calltree_node {
	const struct ep_function *function; /* FUNCTION; else NULL */
	uint32_t kind;                      /* enum ep_calltree_kind */
	uint32_t parent, child, next;       /* nodes; EP_CALLTREE_NONE */
	uint32_t depth;                     /* the root's is 0 */
	uint32_t thread;                    /* THREAD: its index in the trace, or the first one's */
	uint64_t calls;
	uint64_t open;  /* of them: did not return */
	int64_t self;   /* ns, without what it called that was traced, while its stack ran */
	int64_t total;  /* ns: self, and the totals of its children */
	int64_t waited; /* ns of self, for certain */
};

/* By what the children of a node stand in order: greatest first, names from A. */
enum ep_calltree_key {
	EP_CALLTREE_TOTAL,
	EP_CALLTREE_SELF,
	EP_CALLTREE_CALLS,
	EP_CALLTREE_NAME,
	EP_CALLTREE_KEYS,
};

/* What stands below the root. */
enum ep_calltree_by {
	EP_CALLTREE_BY_CALLS,   /* outermost calls, of whatever thread */
	EP_CALLTREE_BY_THREADS, /* threads, and below one without its beginning OLDER */
	EP_CALLTREE_BY_THREAD_NAMES,
};

struct ep_calltree {
	EP_ARRAY(struct ep_calltree_node) nodes; /* the root first, each behind its parent */
	/* private */
	struct ep_hash by_parent;
	const struct ep_trace *trace;
	enum ep_calltree_by by;
	bool selected;   /* not all calls are there */
	uint32_t *roots; /* by thread: where its outermost calls hang; EP_CALLTREE_NONE */
};

/* NULL selection: all. Sorted by total. */
void ep_calltree_create(struct ep_calltree *tree, const struct ep_trace *trace,
			struct ep_names *names, const struct ep_selection *selection,
			enum ep_calltree_by by, uint64_t *shown);
void ep_calltree_deinit(struct ep_calltree *tree);

void ep_calltree_sort(struct ep_calltree *tree, enum ep_calltree_key key, bool reverse);

/* The function's name, or words in brackets; those of the root and of threads are "". Borrowed. */
const char *ep_calltree_name(const struct ep_calltree_node *node);

#endif

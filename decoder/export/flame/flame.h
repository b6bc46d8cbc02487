/* SPDX-License-Identifier: BSD-2-Clause */
/* flame.h: a tree of stacks laid out for drawing: each frame as wide as all that was spent in it,
 * beside its siblings, the widest first. */
#ifndef EPITAPH_FLAME_H
#define EPITAPH_FLAME_H

#include "decoder/export/flame/stack_tree.h"

struct ep_flame_frame {
	uint32_t node;   /* of the tree */
	uint64_t begin;  /* where it begins, of `total` of the flame */
	uint64_t weight; /* its own, and that of all inside; not 0 */
};

struct ep_flame {
	struct ep_stack_tree tree;
	EP_ARRAY(struct ep_flame_frame) frames; /* each before those inside of it */
	uint64_t total;                         /* of all threads */
	uint32_t depth;                         /* rows: of the deepest frame, and 1 */
};

/* As ep_stack_tree_create. */
void ep_flame_create(struct ep_flame *flame, const struct ep_export *export, uint64_t *shown);
void ep_flame_deinit(struct ep_flame *flame);

/* "12.345 ms", or "1,234 calls". Returns `out`. */
#define EP_FLAME_TEXT 48
const char *ep_flame_text(char out[EP_FLAME_TEXT], const struct ep_flame *flame, uint64_t weight);

/* One self-contained page that zooms and searches. */
int ep_flamegraph_write(FILE *out, const struct ep_export *export, uint64_t *shown,
			struct ep_err *err);
/* One picture. */
int ep_svg_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err);

#endif

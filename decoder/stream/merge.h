/* SPDX-License-Identifier: BSD-2-Clause */
/* merge.h: what stands in the tables of several threads, in one order: by time, ties by serial. A
 * thread's own order is never changed. */
#ifndef EPITAPH_MERGE_H
#define EPITAPH_MERGE_H

#include "decoder/calls/call_table.h"

struct ep_merge;

/* The tables are borrowed, ascending serial. Of their orders' entries those come that `want`
 * wants. */
struct ep_merge *ep_merge_create(struct ep_call_table *tables, size_t count,
				 bool (*want)(const struct ep_call_table *table, size_t at));
void ep_merge_destroy(struct ep_merge *merge);

/* The table of the next one, and where in its order it is; NULL: there is none. */
struct ep_call_table *ep_merge_next(struct ep_merge *merge, size_t *at);

#endif

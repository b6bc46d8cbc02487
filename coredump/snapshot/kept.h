/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.h: snapshots that a process kept in its own memory (runtime/format.h, struct ep_kept): which
 * there are in a core, a snapshot or a running process.
 */
#ifndef EPITAPH_COREDUMP_KEPT_H
#define EPITAPH_COREDUMP_KEPT_H

#include "coredump/find/root.h"

#define EP_KEPT_MAX 1024 /* more than any runtime keeps: 64 */

struct ep_kept_found {
	struct ep_kept kept; /* plausible: page aligned, not empty */
	uint64_t present;    /* bytes of it that the source holds */
};

struct ep_kept_list {
	struct ep_kept_found *list; /* ascending number; owned */
	size_t count, capacity;
	size_t corrupt; /* entries left out: they make no sense */
};

/* Those of the arena that was found; an older runtime has none, nor has one whose table cannot be
 * read. */
void ep_kept_list(struct ep_kept_list *out, struct ep_source *source,
		  const struct ep_root_found *found);
void ep_kept_list_deinit(struct ep_kept_list *list);

/* By number; NULL: there is none. Borrowed from the list. */
const struct ep_kept_found *ep_kept_at(const struct ep_kept_list *list, uint64_t number);

#endif

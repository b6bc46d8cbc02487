/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.h: snapshots that a process kept in its own memory (runtime/format.h, struct ep_kept): finds
 * them in a core, a snapshot or a running process, and makes a snapshot file of one.
 */
#ifndef EPITAPH_COREDUMP_KEPT_H
#define EPITAPH_COREDUMP_KEPT_H

#include <sys/types.h>

#include "coredump/snapshot/extract.h"
#include "coredump/find/root.h"

#define EP_KEPT_MAX 1024 /* more than any runtime keeps: 64 */

struct ep_kept_found {
	struct ep_kept kept; /* plausible: page aligned, not empty */
	uint64_t present;    /* bytes of it that the source holds */
};

struct ep_kept_list {
	struct ep_kept_found *list; /* ascending number; owned */
	size_t count;
	size_t corrupt; /* entries left out: they make no sense */
};

/*
 * Those of the arena that was found; an older runtime has none. EP_OK, also when the table could
 * not be read: then there are none. EP_E_MEMORY.
 */
int ep_kept_list(struct ep_kept_list *out, struct ep_source *source,
		 const struct ep_root_found *found, struct ep_err *err);
void ep_kept_list_deinit(struct ep_kept_list *list);

/* By number; NULL: there is none. Borrowed from the list. */
const struct ep_kept_found *ep_kept_at(const struct ep_kept_list *list, uint64_t number);

struct ep_kept_result {
	uint64_t bytes_written;
	uint64_t wanted, saved; /* bytes of the kept arena */
};

/*
 * Writes it as a snapshot without stacks and registers to `path` ("-" is stdout), whole or not at
 * all, by the options' force and redact. EP_E_UNSAVED: the source has less than half of it, or not
 * its first page; EP_E_CORRUPT: that page is damaged; EP_E_VERSION. A running process may have
 * given it back meanwhile: EP_END.
 */
int ep_kept_extract(struct ep_source *source, const struct ep_root_found *found,
		    const struct ep_kept_found *which, const char *path,
		    const struct ep_extract_options *options, struct ep_kept_result *result,
		    struct ep_err *err);

#endif

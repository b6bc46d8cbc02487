/* SPDX-License-Identifier: BSD-2-Clause */
/* extract_kept.h: makes a snapshot file of a snapshot that a process kept in its memory. */
#ifndef EPITAPH_EXTRACT_KEPT_H
#define EPITAPH_EXTRACT_KEPT_H

#include "coredump/extract/extract.h"
#include "coredump/snapshot/kept.h"

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

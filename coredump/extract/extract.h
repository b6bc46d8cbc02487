/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * extract.h: source → snapshot. The snapshot is a small, valid ELF core (docs/format.md, section
 * 4): all notes of the original, one note of ours, the pages that pages.h chooses.
 */
#ifndef EPITAPH_EXTRACT_H
#define EPITAPH_EXTRACT_H

#include "coredump/snapshot/pages.h"

struct ep_extract_options {
	struct ep_page_options pages;
	bool force;     /* replace an existing file */
	uint64_t ended; /* ns since 1970 when the caller saw the process's end; 0: it did not */
};
#define EP_EXTRACT_DEFAULTS           \
	((struct ep_extract_options){ \
		.pages = {.stack_bytes = 65536, .stack_bytes_total = 64u << 20}})

struct ep_extract_result {
	uint64_t bytes_written;
	uint64_t arena_wanted, arena_saved;
	uint64_t threads, stacks_whole, stacks_cut, stacks_missing;
	uint64_t pages_wanted, pages_saved;
};

/*
 * Writes aside and renames: `path` is whole or untouched. `path` "-" is stdout. EP_OK also when
 * something could not be saved: *result counts it and the snapshot's own note keeps it.
 */
int ep_extract(struct ep_source *source, const struct ep_root_found *found, const char *path,
	       const struct ep_extract_options *options, struct ep_extract_result *result,
	       struct ep_err *err);

/* The same into a file that is open; after a failure the caller throws it away. `name` is for
 * messages. */
int ep_extract_into(struct ep_source *source, const struct ep_root_found *found, int fd,
		    const char *name, const struct ep_extract_options *options, struct ep_err *err);

#endif

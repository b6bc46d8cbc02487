/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.h: which pages a snapshot has (docs/format.md, section 4, "Which pages"). */
#ifndef EPITAPH_PAGES_H
#define EPITAPH_PAGES_H

#include "coredump/find/root.h"
#include "coredump/memory/ranges.h"
#include "coredump/util/array.h"

struct ep_page_options {
	uint64_t stack_bytes;       /* per thread from sp - 256 up; 0: no stacks */
	uint64_t stack_bytes_total; /* bound over all threads */
	bool arena_only;            /* neither stacks nor module pages */
	uint32_t redact;            /* EP_REDACTED_: what is not wanted */
};

struct ep_pages {
	struct ep_ranges all;     /* joined */
	struct ep_ranges modules; /* of them, those by which debuggers find modules; joined */
	/* The bytes for which they are wanted; only when something is redacted. */
	EP_ARRAY(struct ep_range) exact;
	uint64_t arena_size;                /* bytes of the arena that are wanted */
	struct ep_snapshot_thread *threads; /* one for each of the source, with its stack; owned */
	size_t thread_count;
	struct ep_snapshot_note before; /* of the snapshot that is read; size 0: it is none */
	const uint8_t *before_threads;  /* borrowed from the source; before.thread_count */
};

void ep_pages_choose(struct ep_pages *pages, struct ep_source *source,
		     const struct ep_root_found *found, const struct ep_page_options *options);
void ep_pages_deinit(struct ep_pages *pages);

#endif

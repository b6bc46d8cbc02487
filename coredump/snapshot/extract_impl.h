/* SPDX-License-Identifier: BSD-2-Clause */
/* extract_impl.h: what one extraction wants to save, gathered before anything is written. */
#ifndef EPITAPH_EXTRACT_IMPL_H
#define EPITAPH_EXTRACT_IMPL_H

#include "coredump/snapshot/elfcore.h"
#include "coredump/snapshot/extract.h"
#include "coredump/memory/ranges.h"
#include "coredump/live/live_read.h"

/* Bytes [start, end), process virtual. */
struct ep_extent {
	uint64_t start, end;
};

struct ep_extraction {
	struct ep_source *source;
	const struct ep_root_found *found;
	struct ep_extract_options options;
	struct ep_ranges all;    /* everything that is wanted */
	struct ep_ranges pages;  /* of modules: headers, .dynamic, link maps */
	struct ep_extent *exact; /* what of it is wanted to the byte; only when
				    something is redacted */
	size_t exact_count, exact_capacity;
	struct ep_snapshot_thread *threads; /* one for each of the source */
	size_t thread_count;
	struct ep_snapshot_note note;
	struct ep_snapshot_note before; /* of the snapshot that we read; size 0:
					   none */
	const uint8_t *before_threads;  /* borrowed; before.thread_count */
	struct ep_elfcore_note *notes;
	size_t note_count, note_capacity;
	uint8_t *made; /* bytes of notes that were made of /proc; owned */
	void **remade; /* of notes that were redacted; owned, and the list */
	size_t remade_count, remade_capacity;
	struct ep_elfcore_piece *pieces;
	size_t piece_count, piece_capacity;
	uint8_t *captured; /* bytes of all pieces, of a running process and of
			      what is redacted; else NULL; owned */
	struct ep_live_read steady;
};

/* extract_stacks.c: the tops of the stacks into `all`, what could not be had into `threads`. */
void ep_extract_stacks(struct ep_extraction *x);
/* extract_modules.c: pages by which debuggers find modules, into `pages`. */
int ep_extract_modules(struct ep_extraction *x, struct ep_err *err);
/* extract_live.c: the notes that a kernel would write, registers zero; into `notes`. */
int ep_extract_live_notes(struct ep_extraction *x, struct ep_err *err);

/* extract_live.c: a NT_FILE note's bytes, of source->mapping_count mappings. */
size_t ep_extract_files_size(const struct ep_source *source, const struct ep_mapping *mappings);
void ep_extract_files_fill(const struct ep_source *source, const struct ep_mapping *mappings,
			   uint8_t *out);

/* Index of the first piece that ends behind `address`; they ascend. */
size_t ep_extract_piece_behind(const struct ep_extraction *x, uint64_t address);
/* Frees the list of notes and what was made for it. */
void ep_extract_deinit_notes(struct ep_extraction *x);

/*
 * redact.c: takes what x->options.redact names out of the notes and of what was captured; nothing
 * when it names nothing. `arena` is the arena of `identity`, of `size` bytes.
 */
int ep_redact(struct ep_extraction *x, uint64_t arena, uint64_t size, uint64_t identity,
	      struct ep_err *err);

/* Appends a note that borrows all its bytes. */
int ep_extract_note(struct ep_extraction *x, const char *name, uint32_t type, const void *desc,
		    uint32_t size, struct ep_err *err);

#endif

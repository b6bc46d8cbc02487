/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gathered.h: what a snapshot is going to hold, put together before anything of it is written: its
 * notes, and the pieces of memory that there are of the pages that it wants (pages.h).
 */
#ifndef EPITAPH_GATHERED_H
#define EPITAPH_GATHERED_H

#include "coredump/find/root.h"
#include "coredump/memory/ranges.h"
#include "coredump/snapshot/elfcore.h"
#include "coredump/util/array.h"

/* All zero but for the source: nothing yet. */
struct ep_gathered {
	struct ep_source *source;
	EP_ARRAY(struct ep_elfcore_note) notes;
	EP_ARRAY(void *) made; /* bytes of notes that are no longer the source's; owned */
	EP_ARRAY(struct ep_elfcore_piece) pieces;
	uint8_t *captured; /* bytes of all pieces; NULL: they are read when they are written */
};

void ep_gathered_deinit(struct ep_gathered *gathered);

/* ---- notes ---- */

/* Appends a note that borrows all its bytes. */
void ep_gathered_note(struct ep_gathered *gathered, const char *name, uint32_t type,
		      const void *desc, uint32_t size);
/* `size` bytes, zero, for a note to borrow: they go with `gathered`. */
uint8_t *ep_gathered_make(struct ep_gathered *gathered, size_t size);

/* Ours, with head->thread_count threads. */
void ep_gathered_snapshot_note(struct ep_gathered *gathered, const struct ep_snapshot_note *head,
			       const struct ep_snapshot_thread *threads);

/* ---- pieces: once only, by one of these two ---- */

/* What a core has of the ranges, which are joined. */
void ep_gathered_choose(struct ep_gathered *gathered, const struct ep_ranges *ranges);
/* The same by reading it now, of what may be gone or different later: EP_E_IO. */
int ep_gathered_read(struct ep_gathered *gathered, const struct ep_root_found *found,
		     const struct ep_ranges *ranges, struct ep_err *err);
/* Reads what was chosen, so that it can be changed. */
int ep_gathered_capture(struct ep_gathered *gathered, struct ep_err *err);

/* Index of the first piece that ends behind `address`; they ascend. */
size_t ep_gathered_behind(const struct ep_gathered *gathered, uint64_t address);
/* Bytes that there are of [start, end). */
uint64_t ep_gathered_within(const struct ep_gathered *gathered, uint64_t start, uint64_t end);

/* ---- captured bytes ---- */

/* Where `size` bytes at `address` lie; NULL: not all of them are there, or not in one piece. */
uint8_t *ep_gathered_at(struct ep_gathered *gathered, uint64_t address, uint64_t size);
/* Zeroes what there is of [address, address + size). */
void ep_gathered_wipe(struct ep_gathered *gathered, uint64_t address, uint64_t size);

/* ---- the file ---- */

/* To a descriptor that `name` names in messages. *written counts bytes. */
int ep_gathered_write(const struct ep_gathered *gathered, int fd, const char *name,
		      uint64_t *written, struct ep_err *err);
/* To `path`, whole or not at all; "-" is stdout. `force`: an existing file is replaced. */
int ep_gathered_save(const struct ep_gathered *gathered, const char *path, bool force,
		     uint64_t *written, struct ep_err *err);

#endif

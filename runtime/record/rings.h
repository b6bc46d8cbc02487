/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rings.h: which block a thread records in next. A ring is a chain of blocks anywhere in the arena;
 * it grows block by block, while the thread records, to the thread's share, and goes round then.
 * The thread's entry says which block it entered last (ring_offset), and how much of its history
 * the ring holds (ring_size). Lock free, async-signal-safe. Only the owner changes a ring, but for
 * what is said.
 *
 *   what is open      ┌───┬───┬───┬───┬───┬───┬───┬───┬───┬───┐
 *   of the arena      │a 1│b 1│a 3│a 2│c 1│a 4│ † │ † │   │   │   †: left by a thread that ended
 *                     └───┴───┴───┴───┴───┴───┴───┴───┴───┴───┘
 *   a's ring: 1 → 2 → 3 → 4 → 1. At the end of its block 4: a fresh one, while it has less than its
 *   share; else what is † longest, while it has less than EPITAPH_RING; else a fresh one, while its
 *   block 1 is young and there is plenty; else its own block 1.
 */
#ifndef EPITAPH_RINGS_H
#define EPITAPH_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

/* A first block for the thread, which has none; ring_offset says where. False: there is none. */
bool ep_rings_begin(struct ep_thread *thread);

/* The block that the thread entered last, or is to enter first; NULL: it has none. Any thread may
 * ask: it may have entered another by now. */
struct ep_block *ep_rings_last(const struct ep_thread *thread);

/* It is in the thread's ring: may be followed. */
bool ep_rings_contain(const struct ep_thread *thread, const struct ep_block *block);

/* Puts another block after `now`, where the thread is to have more and no other waits there. True:
 * it did; if the memory was opened for it, some microseconds have passed. */
bool ep_rings_grow(const struct ep_thread *thread, const struct ep_block *now);

/* The block to enter after `now`, which is in the ring. */
struct ep_block *ep_rings_next(struct ep_block *now);

/* `block` is about to be wiped: the ring has one less, until it was entered. */
void ep_rings_wipe(struct ep_thread *thread, const struct ep_block *block);

/* `block` was entered, after `before` (NULL: the first). */
void ep_rings_entered(struct ep_thread *thread, const struct ep_block *block,
		      const struct ep_block *before);

/*
 * Makes the ring one of `size` bytes (whole blocks), of which all are there when it returns: of a
 * larger one the oldest blocks are left. The thread's last block was `now` (NULL: it has no ring).
 * False, nothing changed: there is no room. No signal handler of the thread may record meanwhile.
 */
bool ep_rings_resize(struct ep_thread *thread, const struct ep_block *now, uint64_t size);

/* Leaves all blocks of a ring to others, the oldest first; `last` is the one that was entered last.
 * By the thread, or when it is gone. */
void ep_rings_leave(const struct ep_block *last);

/* The block that the owner of `block` entered before it, if it is still that; any thread may ask.
 * NULL: there was none. */
const struct ep_block *ep_rings_before(const struct ep_block *block);

/* The process is about to give up system calls: opens what its threads would take later. */
void ep_rings_open_ahead(void);

/* Counting, where an entry's ring is its counters: those of a thread that has ended, as they are
 * handed on; false: none is free. */
bool ep_rings_inherit(uint64_t *offset, uint64_t *size);

/* In a forked child: there are none. */
void ep_rings_reset(void);

#endif

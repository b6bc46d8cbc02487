/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring.h: the slow half of the hooks: entering blocks, escapes, pausing and resuming, a thread's
 * first event. The fast half is x86_64/hooks.S.
 */
#ifndef EPITAPH_RING_H
#define EPITAPH_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/*
 * Records `word` (address | EP_RETURN_BIT, no stamp) of a function whose frame begins at `sp` (the
 * address that holds its return address). Called by the hooks with all registers kept. Signal safe,
 * keeps errno.
 */
void ep_hook_slow(uint64_t word, uint64_t sp);

/* Appends a timed record; EP_BLOCK_ `flags` other than 0 begin a new block. */
void ep_ring_record(struct ep_tls *tls, uint64_t word, uint8_t flags);

/*
 * Appends a mark for the calling thread: `words` are its head, still without a stamp, and its data,
 * at most 1 + EP_MARK_DATA_MAX. All of them lie in one block. Does nothing when the thread isn't
 * recording. Signal safe.
 */
void ep_ring_mark(const uint64_t *words, unsigned count);

/*
 * The calling thread records, also if this is the first that it does: what it says itself (a note)
 * begins its history as a call does.
 */
bool ep_ring_ready(void);

/*
 * The frequent case of ep_ring_say, for the caller to write at once: `count` slots, the first of
 * which is to be a mark's head with *stamp. NULL: use ep_ring_ready and ep_ring_say.
 */
uint64_t *ep_ring_reserve(unsigned count, uint64_t *stamp);

/* After ep_ring_ready: as ep_ring_mark, of several marks, which lie in one block; each head gets
 * the stamp. At most EP_BLOCK_RECORDS / 2 words. */
void ep_ring_say(const uint64_t *words, unsigned count);

/* Enters the next block of the caller's ring now, and leaves it empty. The caller's gate is
 * shut. */
void ep_ring_enter(void);

/* A mark of the calling thread would be recorded: worth making one. */
bool ep_ring_recording(void);

/* A fork that nobody tells of may follow: the caller's next hook looks whether it is in the child.
 * Signal safe. */
void ep_ring_look_soon(void);
/* It has had no hook since. */
bool ep_ring_is_to_look(void);

/* The caller's own pause takes effect at once, not at its next block; and its end, where no call
 * went by unseen. */
void ep_ring_pause_here(void);
void ep_ring_resume_here(void);

#endif

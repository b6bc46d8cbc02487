/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring.h: what is rare about recording: entering blocks, escapes, pausing and resuming. The hooks
 * (x86_64/hooks.S) do the rest.
 */
#ifndef EPITAPH_RING_H
#define EPITAPH_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/arena/root.h"
#include "runtime/record/tls.h"

/* The cursor's bits that are 0 at a block's start. */
#define EP_BOUNDARY_MASK ((EP_BLOCK_SIZE - 1) & ~7u)

/* What keeps the thread from recording. In a handler of a fault its gate is open, whatever the
 * thread's and the process's say. */
static inline uint32_t ep_ring_gate(const struct ep_tls *tls)
{
	if (tls->gate != &ep_faults_gate)
		return *(volatile const uint32_t *)tls->gate;
	return *(volatile const uint32_t *)&tls->thread->gate |
	       *(volatile const uint32_t *)&ep_arena->gate;
}

/* What a hook says, as a timed record: an entry or a return, without its stamp. */
void ep_ring_hook(struct ep_tls *tls, uint64_t word);

/* Before a record: recording goes on, if it was paused. EP_BLOCK_ flags that it is to have. */
uint8_t ep_ring_resume(struct ep_tls *tls);

/* After one: a pause that has come meanwhile takes effect. */
void ep_ring_stop_if_shut(struct ep_tls *tls);

/* Appends a timed record; EP_BLOCK_ `flags` other than 0 begin a new block. */
void ep_ring_record(struct ep_tls *tls, uint64_t word, uint8_t flags);

/*
 * Appends a mark for the calling thread: `words` are its head, still without a stamp, and its data,
 * at most 1 + EP_MARK_DATA_MAX. All of them lie in one block. Does nothing when the thread isn't
 * recording. Signal safe.
 */
void ep_ring_mark(const uint64_t *words, unsigned count);

/*
 * The frequent case of ep_ring_say, for the caller to write at once: `count` slots, the first of
 * which is to be a mark's head with *stamp. NULL: use ep_ring_say.
 */
uint64_t *ep_ring_reserve(unsigned count, uint64_t *stamp);

/* While ep_ring_recording: as ep_ring_mark, of several marks, which lie in one block; each head
 * gets the stamp. At most EP_BLOCK_RECORDS / 2 words. */
void ep_ring_say(const uint64_t *words, unsigned count);

/* The block that the caller is writing, up to its cursor; NULL: none yet. Signal safe. */
struct ep_block *ep_ring_block(const struct ep_tls *tls);

/* The one that the caller entered before `block`, whole; NULL: it has been entered anew, or there
 * was none. Signal safe. */
const struct ep_block *ep_ring_previous_block(const struct ep_tls *tls,
					      const struct ep_block *block);

/* A mark of the calling thread would be recorded: worth making one. */
bool ep_ring_recording(void);

/* A fork that nobody tells of may follow: the caller's next hook looks whether it is in the child.
 * Signal safe. */
void ep_ring_look_soon(void);
/* It has had no hook since. */
static inline bool ep_ring_is_to_look(void)
{
	return ep_tls.boundary_mask && ep_tls.boundary_mask != EP_BOUNDARY_MASK;
}

/* The caller's own pause takes effect at once, not at its next block; and its end, where no call
 * went by unseen. */
void ep_ring_pause_here(void);
void ep_ring_resume_here(void);
void ep_ring_start_here(struct ep_tls *tls);

#endif

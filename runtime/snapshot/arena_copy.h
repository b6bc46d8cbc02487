/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena_copy.h: a copy of the arena, in memory, of what is in use only: an arena of its own, laid
 * out like any (format.h), whose blocks have check words for their new places. No malloc, no lock;
 * signal safe. Blocks are copied while threads are held (hold.h); a block counts when its check
 * word held before and after, so that one that was overwritten all the same is missed, and known to
 * be.
 *
 *   ┌────────┬─────────┬───────┬─────────┬─────────┬───┬────────┐
 *   │ first  │ PROCESS │ CLOCK │ THREADS │ MODULES │ … │ RINGS  │
 *   │ page   │         │       │         │ strings │   │ blocks │
 *   └────────┴─────────┴───────┴─────────┴─────────┴───┴────────┘
 */
#ifndef EPITAPH_ARENA_COPY_H
#define EPITAPH_ARENA_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"
#include "runtime/kernel/sched_copy.h"
#include "runtime/record/hold.h"

struct ep_arena_copy {
	/* what is wanted; by the caller, all 0 means everything */
	uint64_t since; /* TSC: no blocks that were full by then */
	uint64_t most;  /* of each thread the newest blocks, so many; 0: all */
	bool kept; /* history and scheduling events, which end here: it is for a kept snapshot, or a
		      process that goes on */
	/* by ep_arena_copy_measure */
	uint64_t head;              /* bytes before the blocks */
	uint64_t room_blocks;       /* that there are now, or are being entered */
	uint32_t room_threads;      /* entries */
	uint32_t modules, strings;  /* entries, bytes */
	uint64_t watchdogs, stacks; /* bytes */
	uint64_t kept_ones;         /* bytes of the table */
	uint64_t looks;             /* likewise */
	uint32_t switched;          /* entries of functions, of the process … */
	uint32_t switched_control;  /* … and from outside */
	struct ep_sched_copy schedule;
	char *events; /* its place in the copy */
	/* by the rest */
	uint64_t until; /* TSC of the moment that it shows */
	char *base;
	struct ep_thread *entries;
	struct ep_thread *entry; /* whose blocks are being copied */
	uint64_t rings;          /* offset of the blocks */
	uint64_t threads, blocks;
	struct ep_hold *hold;
};

/* Counts: what `head` and `room_blocks` say is needed. */
void ep_arena_copy_measure(struct ep_arena_copy *copy);

/* The most blocks that there may be, whatever happens until then. */
uint64_t ep_arena_copy_most_blocks(const struct ep_arena_copy *copy);

/* All but blocks, threads and scheduling events, to `base` (page aligned, copy->head bytes). */
void ep_arena_copy_head(struct ep_arena_copy *copy, char *base);

/* Threads and their blocks, as they were at `copy->until`, behind the head, at most
 * copy->room_blocks. The caller has begun `hold`. */
void ep_arena_copy_history(struct ep_arena_copy *copy, struct ep_hold *hold);

/* When nobody is held any more: adds the scheduling events, and makes an arena of it, by its magic,
 * as one that lies at `address`. Returns its size in bytes.
 */
uint64_t ep_arena_copy_finish(struct ep_arena_copy *copy, const char *magic, uint64_t address);

#endif

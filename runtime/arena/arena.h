/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena.h: the one address range that a post-mortem needs (DESIGN section 1): reserved whole,
 * opened from its start as rings are wanted, never moved. Nothing here allocates with malloc or
 * takes a lock; all calls are raw system calls, so that they work in constructors, signal handlers
 * and clones.
 */
#ifndef EPITAPH_ARENA_H
#define EPITAPH_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/arena/integrity.h"
#include "runtime/arena/root.h"
#include "runtime/format.h"

/*
 * Maps the arena by ep_settings, lays out its sections and publishes the root. `fill` writes what
 * is known of the process: for each new arena, also that of a forked child, before a file of it has
 * the name by which others see it. `inherited`: process, clock and modules are still its parent's.
 * False: tracing is off for good, epitaph_root.off_reason says why.
 */
bool ep_arena_start(void (*fill)(bool inherited));

/*
 * Opens `size` more bytes (a multiple of 4 KiB) at the end of what is open and populates them.
 * Returns their offset from the arena's start, 0 when the memory is exhausted. Thread and signal
 * safe, lock free.
 */
uint64_t ep_arena_grow(uint64_t size);

/* Of the section of scheduling events: its formats, and the least of it all, with two segments. */
#define EP_SCHED_FORMATS (8 * 4096) /* with everything that can be added: 15 KiB */
#define EP_SCHED_LEAST   (4096 + EP_SCHED_FORMATS + 2 * EP_SCHED_SEGMENT)

/*
 * Gives back what nobody has touched, but for `keep` bytes: the arena ends there from then on.
 * Returns how many bytes that were. An arena in a file stays as it is. Not from a hook.
 */
uint64_t ep_arena_give_back(uint64_t keep);

/* The process is about to have this limit (RLIMIT_AS, RLIMIT_DATA; bytes): what the arena would
 * take of it beyond its share is given back. Not from a hook. */
void ep_arena_limit(int resource, uint64_t limit);

/* Address space or data is limited. */
bool ep_arena_is_limited(void);

/* The program wants [start, end) for itself: what nobody has touched there is given back. False:
 * the arena is still there, in part. Not from a hook. */
bool ep_arena_yield(uint64_t start, uint64_t end);

/* Bytes that ep_arena_grow could still open. */
uint64_t ep_arena_free(void);

/* Bytes from the arena's start that may be read: behind them some may just be being opened. */
uint64_t ep_arena_opened(void);

/*
 * True once in a child process that shares nothing with the recording parent (told by the
 * MADV_WIPEONFORK word; also after _Fork and raw clone).
 */
bool ep_arena_forked(void);

/*
 * In a forked child: empties the arena in place (one in a file is the parent's: the child gets a
 * file of its own, or private memory) and starts the next generation: new pid, identity, root. It
 * is as paused by EPITAPH=off and by `epitaph control` as its parent was. The caller is the only
 * thread.
 */
void ep_arena_restart(void);

/*
 * `size` bytes (whole pages) of address space that nobody may touch yet, low as the arena, where
 * there is room. The address; 0: there is none.
 */
uint64_t ep_arena_reserve(uint64_t size);

#endif

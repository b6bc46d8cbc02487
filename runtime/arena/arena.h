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

#include "runtime/format.h"

/* The well-known symbol; alone in its page. */
extern struct ep_root epitaph_root;

/* NULL until ep_arena_start; then constant. Its address never changes, also not in a forked
 * child. */
extern struct ep_arena *ep_arena;

/*
 * Maps the arena by ep_settings, lays out its sections and publishes the root. `fill` writes what
 * is known of the process: for each new arena, also
 * that of a forked child, before a file of it has the name by which others see it. False: tracing
 * is off for good, epitaph_root.off_reason says why.
 */
bool ep_arena_start(void (*fill)(void));

/* A section's first byte (never NULL after start) and size in bytes: one that was laid out. Not by
 * what the arena says, which may be written over. */
void *ep_arena_section(uint32_t type, uint64_t *size);

/*
 * Opens `size` more bytes (a multiple of 4 KiB) at the end of what is open and populates them.
 * Returns their offset from the arena's start, 0 when the memory is exhausted. Thread and signal
 * safe, lock free.
 */
uint64_t ep_arena_grow(uint64_t size);

/* Bytes that ep_arena_grow could still open. */
uint64_t ep_arena_free(void);

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

/* The root's page behind the root: a path may lie there. */
#define EP_ROOT_REST (4096 - sizeof(struct ep_root))
char *ep_root_rest(void);

/* The CRC of a root is right. */
bool ep_root_crc_holds(const struct ep_root *root);

/* Makes `root` a copy of `from` that is valid at address `self`: magic, self, CRC. Where that
 * changes no byte, it is valid all the while. */
void ep_root_fill(struct ep_root *root, const struct ep_root *from, const char *magic,
		  uint64_t self);

/* Recomputes the CRC of root and copy after a change. */
void ep_arena_publish(void);

/* Stops tracing for good with EP_OFF_ `reason`; recording ends at each thread's next block
 * boundary. */
void ep_arena_stop(uint32_t reason);

#endif

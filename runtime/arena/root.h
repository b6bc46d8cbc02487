/* SPDX-License-Identifier: BSD-2-Clause */
/* root.h: where everything begins for a reader: the well-known symbol, and its copy in the arena's
 * first page. */
#ifndef EPITAPH_ARENA_ROOT_H
#define EPITAPH_ARENA_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/format.h"

/* The well-known symbol; alone in its page. */
extern struct ep_root epitaph_root;

/* NULL until ep_arena_start; then constant. Its address never changes, also not in a forked
 * child. */
extern struct ep_arena *ep_arena;

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
void ep_root_publish(void);

/* Stops tracing for good with EP_OFF_ `reason`; recording ends at each thread's next block
 * boundary. */
void ep_arena_stop(uint32_t reason);

#endif

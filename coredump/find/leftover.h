/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leftover.h: scheduling events that the kernel still held when a process died: its ftrace instance
 * outlives a crash, on the same host, until another traced process makes one. They become further
 * chunks of the arena (format.h, section
 * 8), laid over what the source holds, so that reports and snapshots have them.
 */
#ifndef EPITAPH_LEFTOVER_H
#define EPITAPH_LEFTOVER_H

#include "coredump/find/root.h"

/*
 * Returns the number of pages that were added; 0 also where there is no such instance, no
 * permission, or no process that died. From Linux 6.10 on nothing is taken away by it; before, what
 * was read is gone from the kernel.
 */
unsigned ep_leftover_add(struct ep_source *source, const struct ep_root_found *found);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* table.h: the table of threads in the arena. Async-signal-safe. */
#ifndef EPITAPH_TABLE_H
#define EPITAPH_TABLE_H

#include <stdint.h>

#include "runtime/format.h"

/* Its first entry; *count: how many it has room for. */
struct ep_thread *ep_threads(uint32_t *count);

/* Entries, from its first, that may be in use. */
uint32_t ep_thread_count(void);

/* An entry for a thread that begins, still as another left it, and the thread's number; NULL: the
 * table is full. */
struct ep_thread *ep_threads_claim(uint32_t *serial);

/* Looks at `looks` entries whether their threads ended unseen, in turn, up to one that did and has
 * a history: that one, which is the caller's to leave to others. NULL: there is none among them. */
struct ep_thread *ep_threads_bury(unsigned looks);

/* In a forked child: the table is empty. */
void ep_threads_reset(void);

#endif

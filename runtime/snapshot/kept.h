/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.h: snapshots that the process keeps in its own memory (format.h, struct ep_kept): in one
 * region of EPITAPH_KEEP bytes, mapped when the first is taken, and listed in the arena. No malloc;
 * one short lock, never waited for by the thread that holds it.
 */
#ifndef EPITAPH_KEPT_H
#define EPITAPH_KEPT_H

#include <stdint.h>

#include "runtime/format.h"

/*
 * Copies what all threads had recorded when it was called, without the blocks that were full at
 * `since` (TSC; 0: all of them). Returns its number, or a negative errno: -ENOMEM, or -EBUSY (a
 * handler interrupted another call). After ep_start. Thread and signal safe.
 */
int64_t ep_kept_take(uint64_t since);

/* One that is kept here, or NULL; borrowed until it is given back. */
const struct ep_kept *ep_kept_find(uint64_t number);

/* Gives its memory back; nothing happens when there is none of that number. */
void ep_kept_free(uint64_t number);

/* In a forked child: it keeps none. */
void ep_kept_reset(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* blockcopy.h: copies of blocks whose owners go on recording. */
#ifndef EPITAPH_BLOCKCOPY_H
#define EPITAPH_BLOCKCOPY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

/* Whether it is a block of this arena and generation that was entered at `until` (TSC) or before.
 * Signal safe. */
bool ep_block_holds(const struct ep_block *block, uint64_t until);

/*
 * Copies one that held: its header, and its records up to the last that was there; the rest of `to`
 * is zero. False: it was entered anew meanwhile; `to` is then undefined. Signal safe.
 */
bool ep_block_copy(struct ep_block *to, const struct ep_block *from, uint64_t until);

#endif

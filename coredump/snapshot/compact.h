/* SPDX-License-Identifier: BSD-2-Clause */
/* compact.h: an arena laid out anew, with what is in use only, as the runtime does for its own
 * snapshots (docs/format.md, section 4). */
#ifndef EPITAPH_COMPACT_H
#define EPITAPH_COMPACT_H

#include <stdint.h>

/*
 * Lays out `size` bytes at `bytes` (page aligned, whole pages) anew in their place, an arena of
 * `identity`. Returns how many bytes it has then; `size`, nothing changed: it holds something that
 * is not known or damaged, which is left as it lies.
 */
uint64_t ep_arena_compact(uint8_t *bytes, uint64_t size, uint64_t identity);

#endif

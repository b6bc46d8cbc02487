/* SPDX-License-Identifier: BSD-2-Clause */
/* hook.h: where the hooks (x86_64/hooks.S) and the program's notes come into C. */
#ifndef EPITAPH_HOOK_H
#define EPITAPH_HOOK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Records `word` (address | EP_RETURN_BIT, no stamp) of a function whose frame begins at `sp` (the
 * address that holds its return address); the hook returns to `place`. Called by the hooks with all
 * registers kept. Signal safe, keeps errno.
 */
void ep_hook_slow(uint64_t word, uint64_t sp, uint64_t place);

/*
 * The calling thread records, also if this is the first that it does: what it says itself (a note)
 * begins its history as a call does. Signal safe.
 */
bool ep_hook_ready(void);

/* After ep_hook_ready: ep_ring_say, and what is due once a block. */
void ep_hook_say(const uint64_t *words, unsigned count);

#endif

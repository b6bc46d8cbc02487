/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shortcalls.h: EPITAPH_MIN_DURATION: a call that returned sooner, and called nothing that was
 * kept, is dropped again. Every record is timed and goes through C then. A call that is still open
 * is never dropped.
 */
#ifndef EPITAPH_SHORTCALLS_H
#define EPITAPH_SHORTCALLS_H

#include <stdint.h>

#include "runtime/record/tls.h"

/* Records `word`, or takes the call back that it returns from. `sp` as in ep_hook_slow, `flags` as
 * in ep_ring_record. Signal safe. */
void ep_shortcalls_record(struct ep_tls *tls, uint64_t word, uint64_t sp, uint8_t flags);

/* In a forked child: the open calls' records are not in its ring. */
void ep_shortcalls_reset(struct ep_tls *tls);

#endif

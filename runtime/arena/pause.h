/* SPDX-License-Identifier: BSD-2-Clause */
/* pause.h: epitaph_pause's count, the arena's gate, and how often it was shut. */
#ifndef EPITAPH_PAUSE_H
#define EPITAPH_PAUSE_H

#include "runtime/arena/arena.h"

/* How often the process was paused, by itself or from outside; another number than before: calls
 * may be missing. After the arena. */
static inline uint64_t ep_pause_count(void)
{
	return __atomic_load_n(&ep_arena->pauses, __ATOMIC_RELAXED) +
	       __atomic_load_n(&ep_arena->control_pauses, __ATOMIC_RELAXED);
}

/* One pause more: false: there is no arena that it could shut. One less: false: there was none.
 * Signal safe. */
bool ep_pause_begin(void);
bool ep_pause_end(void);

/* Shuts or opens the gate as the count wants it. For an arena that is new: a pause may have come
 * before it, or before a fork. Signal safe. */
void ep_pause_apply(void);

#endif

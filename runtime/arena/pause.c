/* SPDX-License-Identifier: BSD-2-Clause */
/* pause.c: two threads may shut and open at once: whoever wrote looks again, so that the last write
 * agrees with the count. */
#include "runtime/arena/pause.h"

#include <stdatomic.h>

static atomic_uint pauses; /* begun, and not yet ended */

void ep_pause_apply(void)
{
	bool shut;

	if (!ep_arena || ep_overwritten())
		return;
	do {
		shut = atomic_load(&pauses) != 0;
		if (shut)
			__atomic_fetch_or(&ep_arena->gate, EP_GATE_API, __ATOMIC_SEQ_CST);
		else
			__atomic_fetch_and(&ep_arena->gate, ~EP_GATE_API, __ATOMIC_SEQ_CST);
	} while (shut != (atomic_load(&pauses) != 0));
}

bool ep_pause_begin(void)
{
	atomic_fetch_add(&pauses, 1);
	if (!ep_arena || ep_overwritten())
		return false;
	__atomic_fetch_add(&ep_arena->pauses, 1, __ATOMIC_RELAXED);
	ep_pause_apply();
	return true;
}

bool ep_pause_end(void)
{
	unsigned count = atomic_load(&pauses);

	do {
		if (!count)
			return false;
	} while (!atomic_compare_exchange_weak(&pauses, &count, count - 1));
	ep_pause_apply();
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* turn.c: a word, and a yield. */
#include "runtime/switching/turn.h"

#include <stdint.h>

#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"

static uint32_t busy;
static uint64_t signals; /* of who has it, before */

bool ep_turn_try(void)
{
	uint64_t before;
	uint32_t free = 0;

	if (__atomic_load_n(&busy, __ATOMIC_RELAXED))
		return false;
	before = ep_signals_block(0);
	if (__atomic_compare_exchange_n(&busy, &free, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED)) {
		signals = before;
		return true;
	}
	ep_signals_restore(before);
	return false;
}

void ep_turn_take(void)
{
	while (!ep_turn_try())
		ep_syscall0(SYS_sched_yield);
}

void ep_turn_end(void)
{
	uint64_t before = signals;

	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	ep_signals_restore(before);
}

bool ep_turn_is_taken(void)
{
	return __atomic_load_n(&busy, __ATOMIC_RELAXED);
}

bool ep_turn_reset(void)
{
	return __atomic_exchange_n(&busy, 0, __ATOMIC_RELAXED);
}

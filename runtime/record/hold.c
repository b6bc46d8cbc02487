/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold.c: the word is a time and not a flag, so that nobody has to take it back: not a holder that
 * was killed, nor one whose memory a child has a copy of. Several may hold at once: the latest time
 * counts, and only its own setter takes it back.
 */
#include "runtime/record/hold.h"

#include <signal.h>

#include "runtime/lib/futex.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/x86_64/tsc.h"

#define SPINS 200    /* looks before the first sleep: some 10 us */
#define LOOK  100000 /* ns: a holder in another process wakes nobody */

/* What the processor raises must reach its handler: a file that was cut off is replaced in it
 * (rescue.h). */
#define NEVER_BLOCKED                                                             \
	(EP_SIGNAL_BIT(SIGSEGV) | EP_SIGNAL_BIT(SIGBUS) | EP_SIGNAL_BIT(SIGILL) | \
	 EP_SIGNAL_BIT(SIGFPE) | EP_SIGNAL_BIT(SIGSYS))

/* rdtsc waits for no load (Intel SDM), and a processor may be behind another: of 3 million looks at
 * a word just set, 700 had a counter of before that, by up to 5,400 cycles. Hence EP_HOLD_SET. */
static bool holds(uint64_t until)
{
	return until && until - ep_tsc() - 1 < EP_HOLD_CYCLES;
}

/* Its lower half: the words of a futex have 32 bits. */
static uint32_t *word(void)
{
	return (uint32_t *)&ep_arena->hold;
}

bool ep_hold_wait_slow(void)
{
	uint64_t until;
	bool waited = false;

	for (unsigned i = 0;; i++) {
		until = __atomic_load_n(&ep_arena->hold, __ATOMIC_ACQUIRE);
		if (!holds(until))
			break;
		waited = true;
		if (i < SPINS)
			__builtin_ia32_pause();
		else
			ep_futex_wait(word(), (uint32_t)until, LOOK);
	}
	/* One that was left behind costs a look at the clock no longer. */
	if (until)
		__atomic_compare_exchange_n(&ep_arena->hold, &until, 0, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	return waited;
}

void ep_hold_renew(struct ep_hold *hold)
{
	uint64_t now = ep_tsc();
	uint64_t before = __atomic_load_n(&ep_arena->hold, __ATOMIC_RELAXED);

	hold->until = now + EP_HOLD_SET;
	/* Another's is later; one that lies too far ahead is nobody's. */
	while ((before < hold->until || before - now - 1 >= EP_HOLD_CYCLES) &&
	       !__atomic_compare_exchange_n(&ep_arena->hold, &before, hold->until, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

void ep_hold_begin(struct ep_hold *hold)
{
	uint64_t block = ~NEVER_BLOCKED;

	ep_syscall4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&block, (long)&hold->mask, sizeof(block));
	ep_hold_renew(hold);
}

void ep_hold_end(struct ep_hold *hold)
{
	uint64_t ours = hold->until;

	if (__atomic_compare_exchange_n(&ep_arena->hold, &ours, 0, false, __ATOMIC_SEQ_CST,
					__ATOMIC_RELAXED))
		ep_futex_wake(word(), INT32_MAX);
	ep_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&hold->mask, 0, sizeof(hold->mask));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* futex.h: waiting, by raw system calls: for a word that changes, or for a time. */
#ifndef EPITAPH_FUTEX_H
#define EPITAPH_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <time.h>

#include "runtime/lib/syscalls.h"

#define EP_FOR_EVER UINT64_MAX

static inline struct timespec ep_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static inline void ep_nap(uint64_t ns)
{
	struct timespec wait = ep_timespec(ns);

	ep_syscall2(SYS_nanosleep, (long)&wait, 0);
}

/* While *word is `value`, for `ns` at the most. 0: it was woken; -ETIMEDOUT; or another negative
 * errno. */
static inline long ep_futex_wait(uint32_t *word, uint32_t value, uint64_t ns)
{
	struct timespec wait = ep_timespec(ns);

	return ep_syscall4(SYS_futex, (long)word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, (long)value,
			   ns == EP_FOR_EVER ? 0 : (long)&wait);
}

static inline void ep_futex_wake(uint32_t *word, int count)
{
	ep_syscall3(SYS_futex, (long)word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* local.h: atomic against the thread's own signal handlers only. */
#ifndef EPITAPH_X86_64_LOCAL_H
#define EPITAPH_X86_64_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Compare and exchange against this thread's own signal handlers: one
 * instruction, so it cannot be interrupted in the middle, and unlocked, because
 * no other thread ever writes there.
 */
static inline bool ep_cmpxchg_local(uint64_t *at, uint64_t expected,
				    uint64_t wanted)
{
	bool done;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(done), "+m"(*at), "+a"(expected)
			 : "r"(wanted)
			 : "memory");
	return done;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* local.h: what a hook may do that C cannot say: atomic against the thread's own signal handlers
 * only, and vector stores. */
#ifndef EPITAPH_X86_64_LOCAL_H
#define EPITAPH_X86_64_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Compare and exchange against this thread's own signal handlers: one instruction, so it cannot be
 * interrupted in the middle, and unlocked, because no other thread ever writes there.
 */
static inline bool ep_cmpxchg_local(uint64_t *at, uint64_t expected, uint64_t wanted)
{
	bool done;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(done), "+m"(*at), "+a"(expected)
			 : "r"(wanted)
			 : "memory");
	return done;
}

/*
 * Zeroes 32 bytes at a 16-byte boundary, by xmm8. It may be the traced function's: whoever clears
 * keeps it before and restores it behind, once for a block. The C code in between is compiled for
 * general registers only, which is also why it cannot be named as clobbered. These instructions
 * leave the upper parts of vector registers alone.
 */
static inline void ep_clear_32(void *at)
{
	__asm__ volatile("pxor %%xmm8, %%xmm8\n\tmovaps %%xmm8, (%0)\n\tmovaps %%xmm8, 16(%0)"
			 :
			 : "r"(at)
			 : "memory");
}

struct ep_vector {
	uint64_t parts[2];
};

static inline void ep_vector_keep(struct ep_vector *kept)
{
	__asm__ volatile("movups %%xmm8, %0" : "=m"(*kept));
}

static inline void ep_vector_restore(const struct ep_vector *kept)
{
	__asm__ volatile("movups %0, %%xmm8" : : "m"(*kept));
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* tsc.h: the time stamp counter. Assumes an invariant one that all processors
 * share, as Linux does where it is the clock source. */
#ifndef EPITAPH_X86_64_TSC_H
#define EPITAPH_X86_64_TSC_H

#include <stdint.h>

static inline uint64_t ep_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Not before what stands before it, not after what stands behind it (Intel SDM,
 * RDTSC; on AMD lfence waits likewise, Linux sees to it). */
static inline uint64_t ep_tsc_ordered(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence"
			 : "=a"(low), "=d"(high)
			 :
			 : "memory");
	return (uint64_t)high << 32 | low;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* tsc.h: the time stamp counter, and arithmetic on its values. Assumes an invariant one that all
 * processors share, as Linux does where it is the clock source. */
#ifndef EPITAPH_X86_64_TSC_H
#define EPITAPH_X86_64_TSC_H

#include <stdint.h>

static inline uint64_t ep_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Not before what stands before it, not after what stands behind it (Intel SDM, RDTSC; on AMD
 * lfence waits likewise, Linux sees to it). */
static inline uint64_t ep_tsc_ordered(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* Not before what stands before it. */
static inline uint64_t ep_tsc_after(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* a * b / c, rounded down; UINT64_MAX where that needs more than 64 bits. Without __int128, whose
 * division is a call into libgcc. */
static inline uint64_t ep_mul_div(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low, high, quotient, rest;

	__asm__("mulq %3" : "=a"(low), "=d"(high) : "0"(a), "r"(b) : "cc");
	if (high >= c)
		return UINT64_MAX;
	__asm__("divq %4" : "=a"(quotient), "=d"(rest) : "0"(low), "1"(high), "r"(c) : "cc");
	return quotient;
}

#endif
